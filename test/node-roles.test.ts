import { expect, test } from 'vitest';
import { Service } from './service.js';

/** One request of each part of the work. */
const REQUESTS = {
  api: ['GET', '/api/v1/api-keys'],
  ingest: ['POST', '/api/v1/events'],
  any: ['GET', '/readyz'],
} as const;

const event = {
  event_id: 'e1',
  type: 'user_message',
  timestamp: '2026-06-10T10:00:00Z',
  user_id: 'ada',
  session_id: 's1',
};

/** The statuses of these requests to a node of a role. */
async function statuses(role: string): Promise<Record<string, number>> {
  const service = await Service.start({ DAYBOOK_ROLE: role });
  const found: Record<string, number> = {};
  for (const [part, [method, path]] of Object.entries(REQUESTS)) {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${service.key}`,
        ...(method === 'POST' && { 'content-type': 'application/x-ndjson' }),
      },
      ...(method === 'POST' && { body: JSON.stringify(event) }),
    });
    found[part] = response.status;
  }
  return found;
}

test('a node does the work of its role, and refuses the other so that senders try again', async () => {
  expect(await statuses('all')).toEqual({ api: 200, ingest: 200, any: 200 });
  expect(await statuses('api')).toEqual({ api: 200, ingest: 503, any: 200 });
  expect(await statuses('ingest')).toEqual({ api: 503, ingest: 200, any: 200 });
  expect(await statuses('build')).toEqual({ api: 503, ingest: 503, any: 200 });
});

test('the refusal says where the request belongs, in the form of its family', async () => {
  const service = await Service.start({ DAYBOOK_ROLE: 'ingest' });
  const response = await fetch(`${service.url}/api/v1/api-keys`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  expect(response.headers.get('retry-after')).toBe('10');
  expect(await response.json()).toMatchObject({
    detail: 'This node has the role ingest: send the request to a node with the role api or all.',
  });
});

test('a path that does not exist is not found by a node of any role', async () => {
  const service = await Service.start({ DAYBOOK_ROLE: 'ingest' });
  expect((await fetch(`${service.url}/api/v9/nothing`)).status).toBe(404);
});
