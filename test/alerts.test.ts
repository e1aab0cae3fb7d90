import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { SMTPServer } from 'smtp-server';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AlarmDeps, checkOrganization, sendDue } from '../src/alerts/alarm.js';
import { createKey } from '../src/api/api-keys.js';
import type { Role } from '../src/api/roles.js';
import { SecretKey } from '../src/controls/secret-key.js';
import { addDays, type Day } from '../src/day.js';
import { isAllowedHost } from '../src/network/allowed-host.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { buildApp } from '../src/service/app.js';
import { readConfig } from '../src/settings/config.js';
import { changeBudgets } from '../src/store/state/budget-revisions.js';
import { changePrivacy } from '../src/store/state/privacy-revisions.js';
import { ending, event, leavesOutSlow, slow, World } from './world.js';

const SETTINGS = '/api/v0/organization/alerts';
const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** A dollar's worth of input tokens of claude-opus-4-5. */
const DOLLAR = 1_000_000 / 5;
const at = (day: string, time = '06:00') => Date.parse(`${day}T${time}:00Z`);

const atEnd = ending();
let world: World;
let app: FastifyInstance;
const keys = new Map<string, string>();

/** What a receiver does with a request: answers a status, or something else and nothing at all. */
let behaviour: number | (() => void) = 200;
const hang = () => {};
const received: { headers: Record<string, string>; body: string }[] = [];
const mails: string[] = [];
let mailAnswer: string | undefined;
let deps: AlarmDeps;
let webhook = '';

const work = (user_id: string, day: Day, usd: number, more: object = {}) =>
  event(`${user_id} ${day} ${usd}`, {
    ...{ type: 'model_usage', timestamp: `${day}T10:00:00Z`, user_id, session_id: `${user_id} ${day}` },
    ...{ agent: 'claude-code', model: 'claude-opus-4-5', repo: 'github.com/acme/api' },
    ...{ input_tokens: Math.round(usd * DOLLAR), output_tokens: 0 },
    ...more,
  });

async function listen(server: { listen(port: number, host: string): unknown }): Promise<number> {
  const listening = once(server as never, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  return ((server as unknown as { address(): AddressInfo }).address() as AddressInfo).port;
}

beforeAll(async () => {
  const receiver = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    received.push({ headers: request.headers as never, body: Buffer.concat(pieces).toString() });
    if (typeof behaviour === 'function') return behaviour();
    if (behaviour === 302) response.setHeader('location', 'http://127.0.0.1:1/');
    response.writeHead(behaviour).end('no room');
  });
  const port = await listen(receiver);
  atEnd(() => void receiver.close());
  atEnd(() => receiver.closeAllConnections());
  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, done) {
      let text = '';
      stream.on('data', (piece) => {
        text += piece;
      });
      stream.on('end', () => {
        if (mailAnswer !== undefined)
          return done(Object.assign(new Error(mailAnswer), { responseCode: 550 }));
        mails.push(text);
        done();
      });
    },
  });
  const listening = once(mail.server, 'listening');
  mail.listen(0, '127.0.0.1');
  await listening;
  atEnd(() => new Promise<void>((resolve) => mail.close(() => resolve())));
  const smtpPort = (mail.server.address() as AddressInfo).port;
  webhook = `http://127.0.0.1:${port}/hook`;
  world = await World.create(
    {
      ...{ DAYBOOK_RATE_LIMIT: '0', DAYBOOK_ALERT_HOSTS: `127.0.0.1:${port}` },
      ...{ DAYBOOK_SMTP: `smtp://127.0.0.1:${smtpPort}`, DAYBOOK_SMTP_FROM: 'daybook@acme.example' },
    },
    atEnd,
  );
  app = buildApp(world, { logs: process.env.LOGS === '1' });
  const { store, config, clock } = world;
  deps = { store, config, clock, app, key: new SecretKey(config) };
});

async function ask(
  path: string,
  user: string,
  { method = 'GET', payload, headers = {} }: Record<string, unknown> = {},
) {
  const {
    statusCode,
    payload: text,
    headers: given,
  } = await app.inject({
    ...{ method, url: `${SETTINGS}${path}`, payload },
    headers: { authorization: `Bearer ${keys.get(user)}`, ...Object(headers) },
  } as never);
  return { status: statusCode, body: text === '' ? null : JSON.parse(text), headers: given };
}

/** An organization with a key of an owner of the same name, whose alerts go to the webhook. */
async function organization(orgId: string, more: object = {}): Promise<void> {
  await keyOf(orgId, 'owner', orgId);
  const { status, body } = await ask('', orgId, {
    method: 'PUT',
    payload: { ways: [{ name: 'hook', kind: 'webhook', url: webhook, secret: KEY }], ...more },
  });
  expect(status, JSON.stringify(body)).toBe(200);
}

async function keyOf(orgId: string, role: Role, userId: string): Promise<void> {
  keys.set(userId, (await createKey(world.store, { orgId, role, userId }, world.now)).key);
}

/** Checks an organization, and answers what the webhook and the mailbox get from it. */
async function check(orgId: string): Promise<{ texts: string[]; ended: string[]; mails: string[] }> {
  received.length = 0;
  mails.length = 0;
  await checkOrganization(deps, orgId);
  await sendDue(deps);
  const alerts = received.flatMap(({ body }) => JSON.parse(body).alerts ?? []);
  const textsOf = (state: string) =>
    alerts.filter((one: { state: string }) => one.state === state).map((one: { text: string }) => one.text);
  return { texts: textsOf('began'), ended: textsOf('ended'), mails: [...mails] };
}

const log = async (user: string) => (await ask('/log', user)).body;

describe('a day that is dear', () => {
  test('is one at twice the median of its weekday and 20 dollars more, and is told once', async () => {
    await organization('dear');
    // A Wednesday. Of the Wednesdays before it there are 4, of 8, 10, 12 and 30 dollars: the median is 11.
    const day = '2026-06-24' as Day;
    const costs = [30, 8, 12, 10];
    await world.send(
      [
        ...costs.map((usd, place) => work('ada', addDays(day, -7 * (place + 1)), usd)),
        ...[1, 2, 3].map((back) => work('ada', addDays(day, -back), 300)),
        work('ada', day, 31),
      ],
      { orgId: 'dear' },
    );
    world.now = at('2026-06-25');
    await world.build();
    expect((await check('dear')).texts).toEqual([
      'Jun 24 cost $31.00; a Wednesday usually costs $11.00 (the median of 4).',
    ]);
    // A night that is built twice tells nothing new, and neither does a check that runs again.
    await world.send([work('grace', day, 5)], { orgId: 'dear' });
    await world.build();
    expect(await check('dear')).toMatchObject({ texts: [], ended: [] });
    world.now = at('2026-06-26');
    await world.send([work('ada', '2026-06-25' as Day, 1)], { orgId: 'dear' });
    await world.build();
    expect(await check('dear')).toMatchObject({
      texts: [],
      ended: ['Jun 24 cost $31.00; a Wednesday usually costs $11.00 (the median of 4).'],
    });
    expect((await check('dear')).ended).toEqual([]);
  });

  test.skipIf(leavesOutSlow()).each([
    ['three days to compare with', [10, 10, 10], 100],
    ['19.99 dollars more', [10, 10, 10, 10], 29.99],
    ['less than twice', [50, 50, 50, 50], 99.99],
  ])('needs more than %s', async (name, costs, usd) => {
    const orgId = `dear-${name.replaceAll(/\W/g, '-')}`;
    await organization(orgId);
    const day = '2026-06-24' as Day;
    await world.send(
      [
        ...costs.map((cost, place) => work('ada', addDays(day, -7 * (place + 1)), cost)),
        work('ada', day, usd),
      ],
      { orgId },
    );
    world.now = at('2026-06-25');
    await world.build();
    expect((await check(orgId)).texts).toEqual([]);
    // And what is 0.01 dollars more is enough, where a baseline is there.
    if (costs.length < 4) return;
    await world.send([work('grace', day, 0.01)], { orgId });
    await world.build();
    expect((await check(orgId)).texts).toHaveLength(1);
  });
});

test('days that are not built, tokens without a price and rejected lines are told, with their end', async () => {
  await organization('faulty');
  const days = Array.from({ length: 7 }, (_, place) => addDays('2026-06-01' as Day, place));
  const tokens = (model: string, input_tokens: number, day: Day) =>
    work('ada', day, 1, { model, input_tokens });
  await world.send(
    [
      ...days.map((day) => tokens('claude-opus-4-5', 95, day)),
      ...days.map((day) => ({ ...tokens('inhouse', 5, day), event_id: `in ${day}` })),
    ],
    { orgId: 'faulty' },
  );
  world.now = at('2026-06-08', '06:00');
  // It is built at 00:15, so at 06:00 there may still be an error that passes.
  expect((await check('faulty')).texts).toEqual([
    '6 days with events aren\'t built, the first is Jun 1: "daybook status" says why.',
  ]);
  world.now = at('2026-06-08', '06:30');
  await world.build();
  // 5 % is not above 5 %.
  expect(await check('faulty')).toMatchObject({
    texts: [],
    ended: [expect.stringContaining("aren't built")],
  });
  await world.send([{ ...tokens('inhouse', 3, days[6] as Day), event_id: 'one more' }], { orgId: 'faulty' });
  await world.build();
  expect((await check('faulty')).texts).toEqual([
    '5.4% of the tokens of the last 7 days have no price, so costs are too low: "daybook prices check" lists their models.',
  ]);
  await world.send(['{', '{', '{'], { orgId: 'faulty' });
  world.now = at('2026-06-09', '06:00');
  await world.build();
  expect((await check('faulty')).texts).toEqual([
    '18.8% of the lines of the last 7 days were rejected (3): the page Trust says why.',
  ]);
  expect((await log('faulty')).alerts).toMatchObject([
    { condition: 'rejected', endedAt: null },
    { condition: 'unpriced', endedAt: null },
    { condition: 'unbuilt_day', endedAt: '2026-06-08T06:30:00.000Z' },
  ]);
});

slow('a budget is told at 50, 80 and 100 %, each once, and when it may not hold', async () => {
  await organization('budgets');
  await changeBudgets(
    world.store,
    'budgets',
    () => [
      { scope: 'organization', name: null, usd: 200 },
      { scope: 'person', name: 'ada', usd: 80 },
      { scope: 'person', name: null, usd: 1000 },
    ],
    'root',
    world.now,
  );
  const spend = async (day: string, usd: number) => {
    world.now = at(addDays(day as Day, 1));
    await world.send([work('ada', day as Day, usd)], { orgId: 'budgets' });
    await world.build();
    return (await check('budgets')).texts.sort();
  };
  expect(await spend('2026-06-01', 39)).toEqual([]);
  expect(await spend('2026-06-02', 1)).toEqual([
    'The budget of ada is spent by 50%: $40.00 of $80.00 in 2026-06.',
  ]);
  expect(await spend('2026-06-03', 61)).toEqual([
    '1 person has spent more than the own budget in 2026-06.',
    'The budget of ada is spent by 126.3%: $101.00 of $80.00 in 2026-06.',
    'The budget of the organization is spent by 50.5%: $101.00 of $200.00 in 2026-06.',
  ]);
  expect(await spend('2026-06-04', 1)).toEqual([]);
  world.now = at('2026-06-15');
  await world.send(
    Array.from({ length: 10 }, (_, place) => work('ada', addDays('2026-06-05' as Day, place), 5)),
    { orgId: 'budgets' },
  );
  await spend('2026-06-15', 5);
  expect((await log('budgets')).alerts.map(({ text }: { text: string }) => text)).toContainEqual(
    expect.stringMatching(
      /^The budget of the organization may not hold: .* of \$200\.00 are spent, and 2026-06 may end at \$/,
    ),
  );
  // Another month begins anew.
  expect(await spend('2026-07-01', 41)).toContain(
    'The budget of ada is spent by 51.3%: $41.00 of $80.00 in 2026-07.',
  );
});

test('machines that are silent are told by name, or in a protected organization by their number', async () => {
  await organization('silent');
  await keyOf('silent', 'member', 'ada-s');
  world.now = at('2026-06-05');
  await world.send(
    [1, 2, 3, 4, 5].map((day) =>
      event(`s${day}`, { timestamp: `2026-06-0${day}T10:00:00Z`, user_id: 'ada-s', agent: 'codex' }),
    ),
    { orgId: 'silent' },
  );
  const beat = () =>
    app.inject({
      ...{ method: 'POST', url: '/api/v1/events/heartbeat' },
      headers: { authorization: `Bearer ${keys.get('ada-s')}` },
      payload: { collector_id: 'c1', host: 'ada-laptop', version: '0.2.0', agents: [] },
    });
  expect((await beat()).statusCode).toBe(204);
  world.now = at('2026-06-14');
  await world.build();
  const { texts } = await check('silent');
  expect(texts).toContain('ada-laptop of ada-s has been silent since Jun 5.');
  // Whoever protects people from now on tells no name any more, also not the end of what was told.
  await changePrivacy(
    world.store,
    'silent',
    () => ({ mode: 'protected', smallestGroup: 5, auditors: ['silent-auditor'] }),
    'root',
    world.now,
  );
  expect((await log('silent')).alerts).toEqual([]);
  const hidden = await check('silent');
  expect(hidden.texts).toEqual([
    expect.stringMatching(/^1 machine and \d agents? have stopped reporting\.$/),
  ]);
  expect(JSON.stringify([hidden, received])).not.toContain('ada');
  await keyOf('silent', 'owner', 'silent-auditor');
  expect(JSON.stringify((await log('silent-auditor')).alerts)).toContain('ada-laptop of ada-s');
});

describe.skipIf(leavesOutSlow())('a message', () => {
  /** Has an alert of an organization begin. */
  async function begin(orgId: string, more: object = {}): Promise<void> {
    await organization(orgId, more);
    world.now = at('2026-06-08');
    await world.send([work('ada', '2026-06-01' as Day, 1)], { orgId });
    received.length = 0;
    mails.length = 0;
    await checkOrganization(deps, orgId);
  }

  test('is signed, sent again with the same id until it is taken, and given up with a reason', async () => {
    await begin('failing');
    behaviour = 500;
    const waits = [1, 5, 30, 120, 360, 720];
    for (const minutes of waits) {
      await sendDue(deps);
      // Nothing is sent before its time.
      await sendDue(deps);
      world.now += minutes * 60_000;
    }
    await sendDue(deps);
    world.now += 10 * 86_400_000;
    await sendDue(deps);
    expect(received).toHaveLength(7);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { headers, body } of received) {
      const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', key).update(text).digest('base64')}`,
      );
    }
    const [undelivered] = (await log('failing')).deliveries;
    expect(undelivered).toMatchObject({
      state: 'undelivered',
      attempts: 7,
      answer: 'it answers 500 no room',
    });
    // Somebody asks for it again.
    behaviour = 200;
    expect((await ask(`/deliveries/${undelivered.id}/retry`, 'dear', { method: 'POST' })).status).toBe(404);
    expect((await ask(`/deliveries/${undelivered.id}/retry`, 'failing', { method: 'POST' })).status).toBe(
      204,
    );
    await sendDue(deps);
    expect((await log('failing')).deliveries).toMatchObject([
      { state: 'delivered', attempts: 1, answer: null },
    ]);
    expect(received).toHaveLength(8);
    expect((await ask(`/deliveries/${undelivered.id}/retry`, 'failing', { method: 'POST' })).status).toBe(
      404,
    );
  });

  test('that is sent, but whose delivery could not be noted, comes again with the same id', async () => {
    await begin('interrupted');
    const broken = new Proxy(world.store, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (name === 'run') return () => Promise.reject(new Error('killed'));
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await expect(sendDue({ ...deps, store: broken })).rejects.toThrow('killed');
    // Where nodes share their state, the message was claimed, and is due again after that.
    world.now += 5 * 60_000;
    await sendDue(deps);
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array(2).fill(received[0]?.headers['webhook-id']),
    );
    await sendDue(deps);
    expect(received).toHaveLength(2);
  });

  test.each([
    ['nothing', hang, 'the operation was aborted due to timeout'],
    ['302', 302, 'it answers 302'],
  ])('to a receiver that answers %s waits, and says why', async (name, how, reason) => {
    await begin(`receiver-${name}`);
    behaviour = how;
    await sendDue(deps);
    behaviour = 200;
    const [waiting] = (await log(`receiver-${name}`)).deliveries;
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 1 });
    expect(waiting.answer.toLowerCase()).toContain(reason);
  });

  test('isn’t begun any more once the service stops', async () => {
    const ways = Array.from({ length: 9 }, (_, place) => ({
      ...{ name: `hook-${place}`, kind: 'webhook', url: webhook, secret: KEY },
    }));
    // Messages of others would take a place among those that are sent at once.
    await sendDue(deps);
    await begin('stopping', { ways });
    const stopping = new AbortController();
    behaviour = () => {
      if (received.length === 4) stopping.abort();
    };
    await sendDue({ ...deps, stopping: stopping.signal });
    behaviour = 200;
    expect(received).toHaveLength(4);
    const states = (await log('stopping')).deliveries.map(({ attempts }: { attempts: number }) => attempts);
    expect(states.toSorted()).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1]);
  });

  test('goes only to hosts that the operator names', async () => {
    await begin('elsewhere', {
      ways: [{ name: 'hook', kind: 'webhook', url: 'http://169.254.169.254/latest', secret: KEY }],
    });
    await sendDue(deps);
    expect((await log('elsewhere')).deliveries[0].answer).toMatch(
      /^DAYBOOK_ALERT_HOSTS .* 169\.254\.169\.254/,
    );
    expect(isAllowedHost('https://a.acme.example/x', ['*.acme.example'])).toBe(true);
    expect(isAllowedHost('https://acme.example.evil.example/x', ['*.acme.example', 'acme.example'])).toBe(
      false,
    );
    expect(isAllowedHost('https://evilacme.example/x', ['*.acme.example'])).toBe(false);
    expect(isAllowedHost('https://acme.example@evil.example/x', ['acme.example'])).toBe(false);
    expect(isAllowedHost('https://acme.example:8443/x', ['acme.example'])).toBe(false);
  });

  test('has the forms of Slack and Teams, and no text gets a meaning', async () => {
    await begin('forms', {
      ways: [
        { name: 'slack', kind: 'slack', url: `${webhook}?slack` },
        { name: 'teams', kind: 'teams', url: `${webhook}?teams` },
      ],
    });
    await sendDue(deps);
    const bodies = received.map(({ body }) => JSON.parse(body));
    expect(bodies).toContainEqual({
      text: '*1 alert of forms*\n• 1 day with events isn\'t built, the first is Jun 1: "daybook status" says why.',
    });
    const card = bodies.find(({ type }) => type === 'message').attachments[0].content;
    expect(card.body.map(({ text }: { text: string }) => text)).toEqual([
      '1 alert of forms',
      '1 day with events isn\'t built, the first is Jun 1: "daybook status" says why.',
    ]);
    const evil = await ask('/test', 'forms', { method: 'POST', payload: { way: 'slack' } });
    expect(evil.body).toEqual({ isDelivered: true, answer: null });
  });

  test('goes by e-mail through a real server, which may refuse it or say nothing', async () => {
    await begin('mail', { ways: [{ name: 'mail', kind: 'email', to: ['platform@acme.example'] }] });
    mailAnswer = 'no such box';
    await sendDue(deps);
    expect((await log('mail')).deliveries[0]).toMatchObject({
      state: 'waiting',
      answer: expect.stringContaining('550 no such box'),
    });
    mailAnswer = undefined;
    world.now += 60_000;
    await sendDue(deps);
    await sendDue(deps);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/^Subject: Daybook: 1 alert of mail$/m);
    expect(mails[0]).toContain("isn't built");
    // A server that accepts a connection and never says a word.
    const mute = createTcpServer(() => {});
    const port = await listen(mute);
    const { config } = deps;
    const smtp = { url: `smtp://127.0.0.1:${port}`, from: 'daybook@acme.example' };
    await begin('mute-mail', { ways: [{ name: 'mail', kind: 'email', to: ['platform@acme.example'] }] });
    await sendDue({ ...deps, config: { ...config, smtp } });
    mute.close();
    expect((await log('mute-mail')).deliveries[0]).toMatchObject({ state: 'waiting', attempts: 1 });
    expect((await log('mute-mail')).deliveries[0].answer).toMatch(/greeting/i);
  });

  test('that somebody muted comes when the mute is over, if it still is so', async () => {
    await begin('muted', {
      ways: [{ name: 'hook', kind: 'webhook', url: webhook, secret: KEY }],
      mutes: [{ condition: 'unbuilt_day', until: '2026-06-09', reason: 'moves house' }],
    });
    await sendDue(deps);
    expect(received).toEqual([]);
    world.now = at('2026-06-09', '23:00');
    expect((await check('muted')).texts).toEqual([]);
    world.now = at('2026-06-10', '00:00');
    expect((await check('muted')).texts).toHaveLength(1);
  });
});

// It asks routes that other tests ask on every store, and takes minutes on ClickHouse.
describe.skipIf(leavesOutSlow())('the digest of a week', () => {
  const people = Array.from({ length: 7 }, (_, place) => `w${place}`);

  test('tells what changed, once, to those who want it and to leads of their team', async () => {
    await organization('weekly', {
      ways: [
        { name: 'hook', kind: 'webhook', url: webhook, secret: KEY, takes: ['digest'] },
        { name: 'mail', kind: 'email', to: ['owner@acme.example'], takes: ['digest'] },
      ],
      leads: true,
    });
    await replacePeople(
      world.store,
      'weekly',
      (before) =>
        withLines(
          before,
          peopleLines(
            [
              'user_id,email,team,lead',
              ...people.map(
                (user, place) =>
                  `${user},${user}@acme.example,${place < 5 ? 'Big' : 'Few'},${place === 0 || place === 5 ? 'yes' : 'no'}`,
              ),
            ].join('\n'),
            'p.csv',
          ),
          { today: '2026-06-01' as Day, replaces: false },
        ),
      { author: 'root' },
      at('2026-06-01'),
    );
    const week = (monday: string, usd: number) =>
      people.flatMap((user, place) =>
        Array.from({ length: 7 }, (_, day) =>
          work(user, addDays(monday as Day, day), usd * (place === 0 ? 2 : 1), {
            repo: 'github.com/acme/web',
          }),
        ),
      );
    world.now = at('2026-06-15');
    await world.send([...week('2026-06-01', 1), ...week('2026-06-08', 2)], { orgId: 'weekly' });
    // Before its Sunday is built there is none.
    expect(await check('weekly')).toMatchObject({ mails: [] });
    await world.build();
    const { mails: sent } = await check('weekly');
    // Eight shares of a dollar a day were 56 dollars, and twice that.
    const digest = received.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'daybook.digest');
    expect(digest).toMatchObject({ title: 'weekly, the week of Jun 8 – Jun 14', week: '2026-06-08' });
    expect(digest.lines).toEqual(
      expect.arrayContaining([
        'It cost $112.00 (+$56.00), of 7 people.',
        'The change is made of how much each of them used +$56.00.',
        'Teams that changed most: Big $84.00 (+$42.00), Few $28.00 (+$14.00).',
        'Repositories that changed most: github.com/acme/web $112.00 (+$56.00).',
      ]),
    );
    expect(sent).toHaveLength(3);
    const of = (address: string) => sent.find((text) => text.includes(`To: ${address}`)) ?? '';
    expect(of('owner@acme.example')).toContain('It cost $112.00');
    expect(of('w0@acme.example')).toContain('It cost $84.00 (+$42.00), of 5 people.');
    expect(of('w5@acme.example')).toContain('It cost $28.00 (+$14.00), of 2 people.');
    // Neither a build nor a check that runs again sends it again.
    await world.build();
    world.now += 3_600_000;
    expect(await check('weekly')).toMatchObject({ mails: [] });
    expect(received).toEqual([]);
  });

  test('of a team of few people is not told in a protected organization', async () => {
    await changePrivacy(
      world.store,
      'weekly',
      () => ({ mode: 'protected', smallestGroup: 5, auditors: ['w6'] }),
      'root',
      world.now,
    );
    world.now = at('2026-06-22');
    await world.send(
      people.flatMap((user) =>
        Array.from({ length: 7 }, (_, day) => work(user, addDays('2026-06-15' as Day, day), 3)),
      ),
      { orgId: 'weekly' },
    );
    await world.build();
    const { mails: sent } = await check('weekly');
    expect(sent).toHaveLength(3);
    const few = sent.find((text) => text.includes('To: w5@acme.example')) ?? '';
    expect(few).toContain('There is nothing that may be told of this week.');
    expect(sent.join()).not.toContain('Few $');
  });
});

describe('the settings of alerts', () => {
  test('hide their secrets, and keep those that are sent masked', async () => {
    await organization('settings');
    const { body, headers } = await ask('', 'settings');
    expect(body).toMatchObject({
      revision: 1,
      ways: [
        { name: 'hook', kind: 'webhook', url: '***', secret: '***', to: [], takes: ['alerts', 'digest'] },
      ],
      ...{ mutes: [], leads: false, changedBy: 'settings' },
    });
    const { revision: _, changedBy: __, changedAt: ___, ...same } = body;
    const again = await ask('', 'settings', { method: 'PUT', payload: same });
    expect(again.body.revision).toBe(1);
    const stale = await ask('', 'settings', {
      ...{ method: 'PUT', payload: { ...same, leads: true }, headers: { 'if-match': '"9"' } },
    });
    expect(stale.status).toBe(412);
    const changed = await ask('', 'settings', {
      ...{ method: 'PUT', payload: { ...same, leads: true }, headers: { 'if-match': String(headers.etag) } },
    });
    expect(changed.body).toMatchObject({ revision: 2, leads: true });
    expect((await ask('/history', 'settings')).body.changes).toHaveLength(2);
    received.length = 0;
    const sent = await ask('/test', 'settings', { method: 'POST', payload: { way: 'hook' } });
    expect(sent.body).toEqual({ isDelivered: true, answer: null });
    expect(received).toHaveLength(1);
    const stored = JSON.stringify(await world.store.select('SELECT settings FROM alert_revisions'));
    expect(stored).not.toContain(KEY);
    expect(stored).not.toContain('/hook');
  });

  test.each([
    [{ ways: [{ name: 'a', kind: 'webhook', url: '***', secret: '***' }] }, 'masked'],
    [{ ways: [{ name: 'a', kind: 'webhook', url: 'https://a.example' }] }, 'must be a key'],
    [{ ways: [{ name: 'a', kind: 'slack', url: 'ftp://a.example' }] }, 'url'],
    [{ ways: [{ name: 'a', kind: 'email', to: ['nobody'] }] }, 'e-mail address'],
    [{ ways: [{ name: 'a', kind: 'email', to: [] }] }, 'must have an address'],
    [{ mutes: [{ condition: 'weather' }] }, 'condition'],
  ])('%j is refused', async (payload, sentence) => {
    await organization('refused').catch(() => {});
    const { status, body } = await ask('', 'refused', { method: 'PUT', payload });
    expect([status, body.detail]).toEqual([400, expect.stringContaining(sentence)]);
  });

  test('are for owners alone', async () => {
    await keyOf('settings', 'manager', 'settings-manager');
    expect((await ask('', 'settings-manager')).status).toBe(403);
    expect((await ask('/log', 'settings-manager')).status).toBe(403);
  });

  test('go with DAYBOOK_SMTP_FROM', () => {
    expect(() => readConfig({ DAYBOOK_SMTP: 'smtp://127.0.0.1' })).toThrow('go together');
  });
});
