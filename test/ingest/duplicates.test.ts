import { beforeAll, describe, expect, it } from 'vitest';
import { event, eventsOf, idsOf, line, type Members, sharedWorld } from './event.js';

const at = (second: number) => ({ timestamp: `2026-06-15T10:00:0${second}.000Z` });
const usage = { type: 'model_usage' };
const call = { type: 'tool_call' };

/** Three copies of one event; the first of them is the one that stands. */
const STANDS: [what: string, copies: [Members, Members, Members]][] = [
  [
    'of a model_usage the most output_tokens, before the earliest timestamp',
    [
      { ...usage, ...at(3), output_tokens: 100 },
      { ...usage, ...at(1), output_tokens: 9 },
      { ...usage, ...at(2), output_tokens: 20 },
    ],
  ],
  [
    'of a model_usage with equal output_tokens the earliest timestamp',
    [
      { ...usage, ...at(1), session_id: 'zuse-9' },
      { ...usage, ...at(2), session_id: 'ada-1' },
      { ...usage, ...at(3), session_id: 'ada-1' },
    ],
  ],
  [
    'the earliest timestamp, before the smallest session_id',
    [
      { ...call, ...at(1), session_id: 'zuse-9' },
      { ...call, ...at(2), session_id: 'ada-1' },
      { ...call, ...at(3), session_id: 'ada-0' },
    ],
  ],
  [
    'the earliest instant, whatever its spelling',
    [
      { timestamp: '2026-06-15T09:00:00.998-01:00' },
      { timestamp: '2026-06-15T10:00:00.999Z' },
      { timestamp: Date.UTC(2026, 5, 15, 10, 0, 1) },
    ],
  ],
  [
    'then the smallest session_id, before the smallest user_id',
    [
      { session_id: 'Zuse-9', user_id: 'grace' },
      { session_id: 'ada-1', user_id: 'ada' },
      { session_id: 'ádà-1', user_id: 'ada' },
    ],
  ],
  [
    'then the smallest user_id, before the other members',
    [
      { user_id: 'ada', type: 'user_message' },
      { user_id: 'grace', type: 'assistant_message' },
      { user_id: 'hedy', type: 'assistant_message' },
    ],
  ],
  [
    'then the smallest type, before the smallest e-mail',
    [
      { type: 'assistant_message', user_email: 'zuse@acme.example' },
      { type: 'session_start', user_email: 'ada@acme.example' },
      { type: 'user_message', user_email: 'ada@acme.example' },
    ],
  ],
  [
    'then the smallest e-mail, before the client',
    [
      { user_email: 'ada@acme.example', client: 'web' },
      { user_email: 'grace@acme.example', client: 'terminal-ui' },
      { user_email: 'hedy@acme.example', client: 'terminal-ui' },
    ],
  ],
  [
    'then the smallest client, before the autonomy mode',
    [
      { client: 'non-interactive-cli', autonomy_mode: 'spec' },
      { client: 'terminal-ui', autonomy_mode: 'auto-high' },
      { client: 'web', autonomy_mode: 'auto-high' },
    ],
  ],
  [
    'integers by their size, not by their digits',
    [
      { ...call, duration_ms: 9 },
      { ...call, duration_ms: 10 },
      { ...call, duration_ms: 100 },
    ],
  ],
  [
    'false before true, in the order of the columns',
    [
      { ...call, success: false, duration_ms: 100 },
      { ...call, success: true, duration_ms: 9 },
      { ...call, success: true, duration_ms: 10 },
    ],
  ],
  [
    'of equal model_usage the most other tokens, then the fewest input_tokens',
    [
      { ...usage, input_tokens: 9, cache_read_tokens: 1000 },
      { ...usage, input_tokens: 10, cache_read_tokens: 999 },
      { ...usage, input_tokens: 9, cache_read_tokens: 100 },
    ],
  ],
  ['any of three equal copies', [{}, {}, {}]],
];

const ORDERS: [number, number, number][] = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];

/** The copy of every event that comes first, second or third, each event in all orders. */
const arriving = (place: 0 | 1 | 2) =>
  STANDS.flatMap(([what, copies]) =>
    ORDERS.map((order) => event(`${what} ${order.join()}`, copies[order[place]] ?? {})),
  );

const given = sharedWorld();

describe.each(['in one batch each', 'in one file'])('of copies that come %s, in whatever order', (way) => {
  const orgId = way.replaceAll(' ', '-');
  const events = STANDS.length * ORDERS.length;

  beforeAll(async () => {
    const copies = [arriving(0), arriving(1), arriving(2)];
    const settled = { accepted: 0, duplicates: 0, rejected: 0 };
    for (const batch of way === 'in one file' ? [copies.flat()] : copies) {
      const { accepted, duplicates, rejected } = await given.world.send(batch, { orgId });
      settled.accepted += accepted;
      settled.duplicates += duplicates;
      settled.rejected += rejected;
    }
    expect(settled).toEqual({ accepted: events, duplicates: 2 * events, rejected: 0 });
  });

  it.each(STANDS)('stands %s', async (what, [stands]) => {
    const { timestamp, event_id: _, ...members } = event(what, stands);
    const occurred_at = new Date(typeof timestamp === 'number' ? timestamp : String(timestamp)).getTime();
    const rows = await eventsOf(given.world, orgId);
    expect(rows).toHaveLength(events);
    expect(rows.filter(({ event_id }) => String(event_id).startsWith(`${what} `))).toEqual(
      ORDERS.map((order) =>
        expect.objectContaining({ event_id: `${what} ${order.join()}`, ...members, occurred_at }),
      ),
    );
  });
});

describe('of copies with and without a member', () => {
  const copies = [
    {},
    { client: 'web' },
    { repo: 'engine', cwd: '/srv' },
    { type: 'model_usage', user_email: 'ada@acme.example' },
  ].map((members) => event('half-known', members));

  it('the same one stands in either order', async () => {
    const { world } = given;
    for (const one of copies) await world.send([one], { orgId: 'forwards' });
    for (const one of copies.toReversed()) await world.send([one], { orgId: 'backwards' });
    await world.send(copies, { orgId: 'together' });
    const [stands, ...others] = await eventsOf(world, 'forwards');
    expect(others).toEqual([]);
    expect(await eventsOf(world, 'backwards')).toEqual([stands]);
    expect(await eventsOf(world, 'together')).toEqual([stands]);
  });
});

describe('an event id', () => {
  beforeAll(async () => {
    await given.world.send([
      event('deploy'),
      event('deploy', { timestamp: '2026-06-15T23:59:59.999Z' }),
      event('deploy', { timestamp: '2026-06-16T00:00:00.000Z' }),
      event('deploy', { timestamp: '2026-06-16T01:00:00+02:00', session_id: 'later' }),
      event('Deploy'),
      event('deploy '),
    ]);
  });

  it('counts once a UTC day, and letters of another case and spaces make another one', async () => {
    const rows = await eventsOf(given.world, 'acme');
    expect(rows.map(({ day, event_id, session_id }) => [day, event_id, session_id])).toEqual([
      ['2026-06-15', 'Deploy', 'ada-1'],
      ['2026-06-15', 'deploy', 'ada-1'],
      ['2026-06-15', 'deploy ', 'ada-1'],
      ['2026-06-16', 'deploy', 'ada-1'],
    ]);
  });

  it('of another organization is another event', async () => {
    expect(await given.world.send([event('deploy')], { orgId: 'globex' })).toMatchObject({ accepted: 1 });
    expect(await idsOf(given.world, 'acme')).toHaveLength(4);
  });

  it('that comes again next year is a duplicate', async () => {
    const { world } = given;
    world.now += 365 * 86_400_000;
    expect(await world.send([event('deploy')])).toMatchObject({ accepted: 0, duplicates: 1, rejected: 0 });
  });

  it('that stands in several files of one batch counts once', async () => {
    const { world } = given;
    const paths = ['web-1', 'web-2'].map((server) =>
      world.file(`${server}.ndjson`, `${line('ping')}\n${line(`ping of ${server}`)}\n`),
    );
    // A file that is named twice is read once.
    expect(await world.ingest([...paths, ...paths], { orgId: 'initech' })).toMatchObject({
      files: 2,
      accepted: 3,
      duplicates: 1,
      rejected: 0,
    });
    expect(await idsOf(world, 'initech')).toEqual(['ping', 'ping of web-1', 'ping of web-2']);
  });
});
