import { beforeAll, describe, expect, test } from 'vitest';
import { SecretKey } from '../src/controls/secret-key.js';
import { dayOf, MS_PER_DAY } from '../src/day.js';
import { Lake } from '../src/lake/data-lake.js';
import { erasePerson } from '../src/people/erasure.js';
import { replacePeople } from '../src/people/people-change.js';
import { peopleLines, withLines } from '../src/people/people-file.js';
import { rosterFile } from '../src/people/roster-file.js';
import { peopleOf } from '../src/store/state/person.js';
import { removeOldRosters, rosterProposals } from '../src/store/state/vendor-roster.js';
import { type PullDeps, pullOrganization } from '../src/vendors/pull-reports.js';
import { sealedVendors, VendorSettings } from '../src/vendors/vendor-settings.js';
import { pageOf, StandIn, Status, type VendorAnswers } from './vendor-stand-in.js';
import { ending, event, World } from './world.js';

const NIGHT = Date.parse('2026-05-01T00:15:00Z');
const atEnd = ending();

/** Who has seats and teams. Tests change it. */
const known = {
  members: [
    { id: 1, name: 'Ada Lovelace', email: 'Ada@acme.example', role: 'member', isRemoved: false },
    { id: 2, name: 'Grace Hopper', email: 'grace@acme.example', role: 'owner', isRemoved: false },
    { id: 3, name: 'Linus', email: 'linus@acme.example', role: 'member', isRemoved: true },
    { id: 4, name: 'Boss', email: 'boss@acme.example', role: 'free-owner', isRemoved: false },
  ],
  // Two of them are one user.
  seats: [
    ...['ada-l_acme', 'ada-l_acme', 'octocat', 'hubot'].map((login, place) => ({ login, place })),
    ...Array.from({ length: 120 }, (_, place) => ({ login: `seat-${place}`, place: 4 })),
  ],
  teams: [
    ['ada-l_acme', 'frontend'],
    ['octocat', 'frontend'],
    ['octocat', 'platform'],
  ] as const,
  groups: [['Compilers', ['ada@acme.example', 'mary@acme.example']]] as const,
};

const nothing = { data: [], has_more: false, next_page: null };

/** The lists of four vendors at one address. Their other reports have nothing. */
const answers: VendorAnswers = ({ url, headers }, { url: base }) => {
  const { pathname, searchParams: asked } = url;
  if (pathname === '/teams/members') return { teamMembers: known.members };
  if (pathname === '/teams/filtered-usage-events') return { totalUsageEventsCount: 0, usageEvents: [] };
  if (pathname === '/teams/daily-usage-data') return { data: [] };
  if (pathname === '/orgs/acme/copilot/metrics/reports/users-1-day') return [];
  if (pathname === '/orgs/acme/copilot/billing/seats') {
    const [page, size] = [Number(asked.get('page')), Number(asked.get('per_page'))];
    const seats = known.seats.slice((page - 1) * size, page * size).map(({ login, place }) => ({
      ...{
        assignee: { login, id: 1, type: 'User' },
        plan_type: 'business',
        created_at: '2025-01-01T00:00:00Z',
      },
      last_activity_at: place === 0 ? null : place === 3 ? '2026-04-29T09:00:00Z' : '2025-12-01T09:00:00Z',
      ...{ last_activity_editor: 'vscode/1.99', assigning_team: { slug: 'everybody' } },
    }));
    return { total_seats: known.seats.length, seats };
  }
  if (pathname === '/orgs/acme/copilot/metrics/reports/user-teams-1-day') {
    const day = asked.get('day');
    if (day !== '2026-04-28') return [];
    return { download_links: [`${base}/files/teams.ndjson?sig=abc`], report_day: day };
  }
  if (pathname === '/files/teams.ndjson') {
    if (headers.authorization !== undefined) return new Status(400);
    return known.teams
      .map(([user_login, slug]) =>
        JSON.stringify({
          user_id: 1,
          user_login,
          day: '2026-04-28',
          organization_id: '9',
          team_id: 42,
          slug,
        }),
      )
      .join('\n');
  }
  if (pathname !== '/v1/organizations/analytics/users') return nothing;
  if (asked.get('date') !== null) return nothing;
  if (asked.get('starting_date') !== '2026-04-20' || asked.get('ending_date') !== '2026-04-27')
    return new Status(400);
  if (asked.get('group_by[]') === 'rbac_group_id')
    return pageOf(
      [
        ...known.groups.map(([name], place) => ({
          user: null,
          rbac_group_id: `rbac_group_${place}`,
          rbac_group_name: name,
        })),
        { user: null, rbac_group_id: null, rbac_group_name: null },
      ],
      asked.get('page'),
      1,
    );
  const [, place] = /^rbac_group_id:rbac_group_(\d+)$/.exec(asked.get('filter[]') ?? '') ?? [];
  const users = known.groups[Number(place) as 0]?.[1] ?? [];
  return pageOf(
    users.map((email_address) => ({ user: { id: 'user_1', email_address, type: 'user' } })),
    asked.get('page'),
    1,
  );
};

describe("vendors' lists", () => {
  let vendor: StandIn;
  let world: World;
  let deps: PullDeps;

  const set = async (...vendors: object[]) => {
    const settings = VendorSettings.parse({
      vendors: vendors.map((one) => ({ key: 'key_12345678', url: vendor.url, bills: false, ...one })),
    });
    await sealedVendors.change(world.store, 'acme', settings, deps.key, 'ada', NIGHT);
  };
  const ALL = [
    { vendor: 'cursor' },
    { vendor: 'github', account: 'orgs/acme' },
    { vendor: 'anthropic-enterprise' },
  ];
  const pull = async () => {
    vendor.now = world.now;
    return pullOrganization(deps, 'acme');
  };
  const listed = () => rosterProposals(world.store, 'acme', world.now);
  const of = async (...names: string[]) => (await listed()).filter(({ name }) => names.includes(name));
  const rows = async () => {
    const [row] = await world.store.select('SELECT count(*) AS found FROM vendor_roster');
    return Number(row?.found);
  };

  beforeAll(async () => {
    vendor = await StandIn.start(1, answers, atEnd);
    world = await World.create({ DAYBOOK_RATE_LIMIT: '0', DAYBOOK_VENDOR_HOSTS: vendor.host }, atEnd);
    world.now = NIGHT;
    const { store, config, clock } = world;
    deps = { store, config, clock, key: new SecretKey(config), pause: async () => {} };
    await world.send([
      event('e1', { timestamp: '2026-04-20T10:00:00Z', user_id: 'grace', agent: 'cursor' }),
      // She is in no list of people.
      event('e3', { timestamp: '2026-04-20T10:00:00Z', user_id: 'boss', agent: 'claude-code' }),
      event('e2', { timestamp: '2026-04-20T10:00:00Z', user_id: 'octocat', agent: 'claude-code' }),
    ]);
    const lines = peopleLines(
      'user_id,name,email,team\nada,,ada.l@acme.example,Web\ngrace,,grace@acme.example,\n',
      'people.csv',
    );
    const range = { today: dayOf(NIGHT), replaces: false };
    await replacePeople(store, 'acme', (before) => withLines(before, lines, range), { author: 'ada' }, NIGHT);
    await world.build();
  });

  test('are pulled with pages and links, and each is told like a report', async () => {
    await set(...ALL);
    const pulls = await pull();
    expect(pulls.filter(({ fault }) => fault !== '')).toEqual([]);
    expect(pulls.map(({ report }) => report)).toEqual(
      expect.arrayContaining(['cursor-members', 'github-seats', 'github-teams', 'anthropic-groups']),
    );
    const found = await world.store.select(
      'SELECT report, count(*) AS found FROM vendor_roster GROUP BY report ORDER BY report',
    );
    expect(found.map(({ report, found }) => `${report} ${found}`)).toEqual([
      'anthropic-groups 2',
      'cursor-members 3',
      // 124 seats, of which one user has two.
      'github-seats 123',
      'github-teams 3',
    ]);
  });

  test('propose people, other names, teams and unused seats, and change nobody', async () => {
    const before = await peopleOf(world.store, 'acme');
    const one = { fullName: '', userId: null, likelyUserId: null, teams: [], isUnused: false };
    expect(
      await of(
        'ada-l_acme',
        'octocat',
        'hubot',
        'ada@acme.example',
        'grace@acme.example',
        'boss@acme.example',
        'linus@acme.example',
        'mary@acme.example',
      ),
    ).toEqual([
      { ...one, report: 'github-seats', name: 'ada-l_acme', likelyUserId: 'ada', isUnused: true },
      { ...one, report: 'github-teams', name: 'ada-l_acme', likelyUserId: 'ada', teams: ['frontend'] },
      // ada.l@acme.example isn't the address of Cursor, but Ada's user id is like it.
      {
        ...one,
        report: 'anthropic-groups',
        name: 'ada@acme.example',
        likelyUserId: 'ada',
        teams: ['Compilers'],
      },
      {
        ...one,
        report: 'cursor-members',
        name: 'ada@acme.example',
        fullName: 'Ada Lovelace',
        likelyUserId: 'ada',
        isUnused: true,
      },
      { ...one, report: 'cursor-members', name: 'boss@acme.example', fullName: 'Boss', likelyUserId: 'boss' },
      // The vendor saw it in use.
      { ...one, report: 'github-seats', name: 'hubot' },
      { ...one, report: 'anthropic-groups', name: 'mary@acme.example', teams: ['Compilers'] },
      // Claude Code isn't Copilot.
      { ...one, report: 'github-seats', name: 'octocat', isUnused: true },
      { ...one, report: 'github-teams', name: 'octocat', teams: ['frontend', 'platform'] },
    ]);
    expect(await peopleOf(world.store, 'acme')).toEqual(before);
  });

  test('come as a file that an owner imports, after which they propose nothing more', async () => {
    const { people } = await peopleOf(world.store, 'acme');
    const names = ['ada-l_acme', 'octocat', 'mary@acme.example', 'boss@acme.example'];
    const file = rosterFile(await of(...names), people, dayOf(world.now));
    expect(file.split('\r\n')).toEqual([
      'user_id,name,email,alias,team,is_lead',
      'ada,,ada.l@acme.example,ada-l_acme,frontend,false',
      'boss,Boss,boss@acme.example,,,false',
      'mary@acme.example,,mary@acme.example,,Compilers,false',
      'octocat,,,,,false',
      '',
    ]);
    const range = { today: dayOf(NIGHT), replaces: false };
    const make = withLines(people, peopleLines(file, 'people.csv'), range);
    await replacePeople(world.store, 'acme', () => make, { author: 'boss' }, NIGHT);
    expect(
      (await of(...names)).map(({ name, userId, teams, isUnused }) => ({ name, userId, teams, isUnused })),
    ).toEqual([
      { name: 'ada-l_acme', userId: 'ada', teams: [], isUnused: true },
      { name: 'octocat', userId: 'octocat', teams: [], isUnused: true },
      { name: 'octocat', userId: 'octocat', teams: ['frontend', 'platform'], isUnused: false },
    ]);
    const { people: after } = await peopleOf(world.store, 'acme');
    expect(
      after.find(({ userId }) => userId === 'ada')?.memberships.map(({ name, firstDay }) => [name, firstDay]),
    ).toEqual([
      ['Web', '1970-01-01'],
      ['frontend', dayOf(NIGHT)],
    ]);
  });

  test('are the same after a pull whose answers fail now and then', async () => {
    const all = () =>
      world.store.select(
        'SELECT report, user_id, team, is_seat FROM vendor_roster ORDER BY report, user_id, team',
      );
    const before = await all();
    vendor.faults = { early: 10, down: 10, cut: 15, reset: 10 };
    vendor.requests = [];
    await pull();
    vendor.faults = {};
    expect(vendor.requests.length).toBeGreaterThan(60);
    expect(await all()).toEqual(before);
    vendor.faults = { shape: 100 };
    const pulls = await pull();
    vendor.faults = {};
    expect(pulls.find(({ report }) => report === 'github-seats')?.fault).toMatch(
      /^GitHub answers \/orgs\/acme\/copilot\/billing\/seats in another form than documented: total_seats /,
    );
    expect(await all()).toEqual(before);
  });

  test("stay as they were while they can't be fetched", async () => {
    const before = await rows();
    vendor.isDown = true;
    const pulls = await pull();
    vendor.isDown = false;
    expect(pulls.find(({ report }) => report === 'cursor-members')).toMatchObject({
      days: 0,
      fault: 'Cursor answers /teams/members with 503',
    });
    expect(await rows()).toBe(before);
  });

  test('are replaced whole', async () => {
    known.members = known.members.slice(1);
    await pull();
    expect((await of('ada@acme.example')).map(({ report }) => report)).toEqual(['anthropic-groups']);
  });

  test('take nobody again who was erased', async () => {
    const { config, clock, store } = world;
    const erasure = { orgId: 'acme', user: 'mary@acme.example', author: 'boss', isTrial: false };
    const lake = new Lake(config, clock);
    await erasePerson({ store, lake, data: config.data, settle: async () => [], clock }, erasure);
    const mary = () =>
      store.select("SELECT user_id FROM vendor_roster WHERE user_id LIKE '%mary%' OR name LIKE '%mary%'");
    expect(await mary()).toEqual([]);
    await pull();
    expect(await mary()).toEqual([]);
  });

  test('are removed with their vendor, by a setting, and after a month', async () => {
    await set({ vendor: 'cursor', rosters: false }, { vendor: 'github', account: 'orgs/acme' });
    await pull();
    const reports = await world.store.select('SELECT DISTINCT report FROM vendor_roster ORDER BY report');
    expect(reports.map(({ report }) => report)).toEqual(['github-seats', 'github-teams']);
    await removeOldRosters(world.store, world.now + 29 * MS_PER_DAY);
    expect(await rows()).toBeGreaterThan(0);
    await removeOldRosters(world.store, world.now + 31 * MS_PER_DAY);
    expect(await rows()).toBe(0);
  });
});
