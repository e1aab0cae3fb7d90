import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What a service is asked: a GET, or a POST of a body. */
export interface Asked {
  readonly path: string;
  readonly key: string;
  readonly body?: object;
}

/** What an answer took, and how long it was. */
export interface Answered {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Asks one thing after the other. Throws unless each answer has so many rows. The client is light: what unpacks and parses an answer takes
 * time of the service's processors, so that comes after.
 */
export async function ask(url: string, asked: Iterable<Asked>, least = 1): Promise<Answered[]> {
  const agent = new Agent({ keepAlive: true });
  const answers: Answered[] = [];
  for (const { path, key, body } of asked) {
    const started = performance.now();
    const sent = request(url + path, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    sent.end(body && JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const bytes = await buffer(answer);
    answers.push({ ms: performance.now() - started, bytes: bytes.length });
    const text = bytes.toString();
    if (answer.statusCode !== 200 || (JSON.parse(text) as { data: unknown[] }).data.length < least)
      throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
  }
  agent.destroy();
  return answers;
}

/** The number that a share of some doesn't exceed. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
