import { beforeAll, describe, expect, it } from 'vitest';
import { event, type Members, sharedWorld } from './event.js';

const at = (hour: number) => ({ timestamp: `2026-06-15T${hour}:00:00.000Z` });
const mail = (user_email: string | null, hour: number): Members => ({ user_email, ...at(hour) });

/** What comes of a user, and the e-mail that holds; the copies of one event have one event_id. */
const USERS: [what: string, user_id: string, events: Members[], user_email: string | null][] = [
  ['the e-mail of the only event', 'ada', [mail('ada@acme.example', 10)], 'ada@acme.example'],
  ['no e-mail where no event has one', 'alan', [at(10), mail(null, 11)], null],
  [
    'the e-mail of the latest event, though it is smaller',
    'barbara',
    [mail('barbara@old.example', 10), mail('barbara@acme.example', 12), mail('barbara@mid.example', 11)],
    'barbara@acme.example',
  ],
  [
    'of two at the same instant the greater',
    'claude',
    [mail('claude@acme.example', 10), mail('claude@bell.example', 10), mail('Claude@zuse.example', 10)],
    'claude@bell.example',
  ],
  [
    'the last known e-mail, though later events have none',
    'donald',
    [mail('donald@acme.example', 10), mail(null, 11), at(12)],
    'donald@acme.example',
  ],
  [
    'the e-mail of another day, when that is later',
    'edsger',
    [
      mail('edsger@acme.example', 23),
      { user_email: 'edsger@new.example', timestamp: '2026-06-16T00:00:00Z' },
    ],
    'edsger@new.example',
  ],
  [
    'an older e-mail, when the event that gave the newer one is replaced by a copy without',
    'frances',
    [
      { event_id: 'frances-1', ...mail('frances@new.example', 12) },
      { event_id: 'frances-2', ...mail('frances@acme.example', 11) },
      { event_id: 'frances-1', ...at(10) },
    ],
    'frances@acme.example',
  ],
  [
    'no e-mail, when the event that gave the only one is replaced by a copy without',
    'grace',
    [
      { event_id: 'grace-1', ...mail('grace@acme.example', 12) },
      { event_id: 'grace-1', ...at(10) },
    ],
    null,
  ],
  [
    'the e-mail of the copy that stands, when both have one',
    'hedy',
    [
      { event_id: 'hedy-1', ...mail('hedy@old.example', 12) },
      { event_id: 'hedy-1', ...mail('hedy@acme.example', 10) },
      { event_id: 'hedy-2', ...mail('hedy@older.example', 9), timestamp: '2026-06-15T09:00:00Z' },
    ],
    'hedy@acme.example',
  ],
  [
    'the e-mail of the largest copy of a streamed reply',
    'ida',
    [
      { event_id: 'ida-1', type: 'model_usage', output_tokens: 5, ...mail('ida@small.example', 11) },
      { event_id: 'ida-1', type: 'model_usage', output_tokens: 50, ...mail('ida@acme.example', 12) },
    ],
    'ida@acme.example',
  ],
  [
    'nothing of an event that turned out to be another user’s',
    'zuse',
    [
      { event_id: 'shared', ...mail('zuse@acme.example', 12) },
      { event_id: 'shared', user_id: 'katherine', ...mail('katherine@acme.example', 10) },
    ],
    null,
  ],
];

const eventsOfUser = (user_id: string, events: Members[]) =>
  events.map((members, index) => event(`${user_id}-event-${index}`, { user_id, ...members }));
const places = Math.max(...USERS.map(([, , events]) => events.length));
const FORWARDS = Array.from({ length: places }, (_, place) =>
  USERS.flatMap(([, user_id, events]) => eventsOfUser(user_id, events).slice(place, place + 1)),
);
const WAYS: Record<string, Members[][]> = {
  'one-by-one': FORWARDS,
  backwards: FORWARDS.toReversed(),
  'all-at-once': [FORWARDS.flat()],
  'twice-over': [FORWARDS.flat(), FORWARDS.flat().toReversed()],
};

const given = sharedWorld();

describe.each(Object.keys(WAYS))('the e-mail of a user whose events come %s', (orgId) => {
  const emails = new Map<string, string>();

  beforeAll(async () => {
    for (const batch of WAYS[orgId] ?? []) await given.world.send(batch, { orgId });
    const rows = await given.world.store.select(
      'SELECT user_id, user_email FROM user_emails WHERE org_id = $org_id',
      { org_id: orgId },
    );
    for (const row of rows) emails.set(String(row.user_id), String(row.user_email));
    expect(rows).toHaveLength(emails.size);
  });

  it.each(USERS)('is %s', (_what, user_id, _events, user_email) => {
    expect(emails.get(user_id) ?? null).toBe(user_email);
  });

  it('is that of the copy that stands, when the copies are of two users', () => {
    expect(emails.get('katherine')).toBe('katherine@acme.example');
  });
});

it('is another one in another organization', async () => {
  const { world } = given;
  const sent = event('radia-1', { user_id: 'radia', user_email: 'radia@acme.example' });
  await world.send([sent], { orgId: 'acme' });
  await world.send([{ ...sent, user_email: 'radia@globex.example' }], { orgId: 'globex' });
  expect(
    await world.store.select(
      "SELECT org_id, user_email FROM user_emails WHERE user_id = 'radia' ORDER BY org_id",
    ),
  ).toEqual([
    { org_id: 'acme', user_email: 'radia@acme.example' },
    { org_id: 'globex', user_email: 'radia@globex.example' },
  ]);
});

it('is not taken from a line that is rejected', async () => {
  const { world } = given;
  await world.send([event('late', { client: 'No Client', ...mail('ada@late.example', 12) }), event('ada')], {
    orgId: 'initech',
  });
  expect(await world.store.select("SELECT * FROM user_emails WHERE org_id = 'initech'")).toEqual([]);
});
