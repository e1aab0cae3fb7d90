import { z } from 'zod';
import { addDays, type Day } from '../day.js';
import type { RosterRow } from '../store/state/vendor-roster.js';
import { PullFault, type VendorClient } from './vendor-client.js';
import type { VendorName } from './vendor-settings.js';

/** Who a vendor says has a seat, or belongs to a team, as of a day. */
export interface Roster {
  readonly vendor: VendorName;
  readonly name: string;
  /** Throws PullFault. */
  readonly fetch: (client: VendorClient, today: Day, account: string) => Promise<readonly RosterRow[]>;
}

const text = z.string().nullish();

/** https://cursor.com/docs/account/teams/admin-api */
const Members = z.object({
  teamMembers: z.array(
    z.object({ name: text, email: z.string().min(1), role: text, isRemoved: z.boolean().nullish() }),
  ),
});

/** The members of a team. Owners can be in it without a seat. */
const CURSOR_MEMBERS: Roster = {
  vendor: 'cursor',
  name: 'cursor-members',
  fetch: async (client) => {
    const { teamMembers } = await client.json(Members, { path: '/teams/members' });
    return teamMembers
      .filter(({ isRemoved, role }) => isRemoved !== true && role !== 'removed')
      .map(({ name, email, role }) => ({ user: email.toLowerCase(), name, isSeat: role !== 'free-owner' }));
  },
};

const Seats = z.object({
  total_seats: z.number().int().min(0),
  seats: z.array(
    z.object({ assignee: z.object({ login: z.string().min(1) }).nullish(), last_activity_at: text }),
  ),
});

/** How many seats are asked for at a time, the most that GitHub gives. */
const SEATS = 100;

/** The seats of Copilot: https://docs.github.com/en/rest/copilot/copilot-user-management. A user can have several. */
const GITHUB_SEATS: Roster = {
  vendor: 'github',
  name: 'github-seats',
  fetch: async (client, _, account) => {
    const asked = (page: number) => ({
      path: `/${account}/copilot/billing/seats?per_page=${SEATS}&page=${page}`,
    });
    let seen = 0;
    const pages = await client.pages(Seats, asked(1), ({ total_seats, seats }, number) => {
      seen += seats.length;
      return seen < total_seats && seats.length > 0 ? asked(number + 1) : undefined;
    });
    const total = pages.at(-1)?.total_seats ?? 0;
    // Seats can come and go meanwhile, but not whole pages.
    if (seen + SEATS <= total) throw new PullFault(`GitHub has ${total} seats, and answers ${seen}`);
    const newest = new Map<string, string>();
    for (const { assignee, last_activity_at } of pages.flatMap(({ seats }) => seats))
      if (assignee != null) {
        const before = newest.get(assignee.login) ?? '';
        const at = last_activity_at ?? '';
        newest.set(assignee.login, at > before ? at : before);
      }
    return [...newest].map(([user, lastActive]) => ({ user, lastActive, isSeat: true }));
  },
};

const Links = z.union([
  z.object({ download_links: z.array(z.url()).max(1000) }),
  z
    .array(z.unknown())
    .max(0)
    .transform(() => ({ download_links: [] })),
]);
const TeamRow = z.object({ user_login: z.string().min(1), slug: z.string().min(1) });

/** How many days are looked through for the newest one of which there is something. */
const DAYS_BACK = 4;

/** The teams of Copilot's users. Teams with fewer than five seats aren't in it. */
const GITHUB_TEAMS: Roster = {
  vendor: 'github',
  name: 'github-teams',
  fetch: async (client, today, account) => {
    for (let back = 1; back <= DAYS_BACK; back += 1) {
      const day = addDays(today, -back);
      const path = `/${account}/copilot/metrics/reports/user-teams-1-day?day=${day}`;
      const { download_links } = await client.json(Links, { path });
      const rows: RosterRow[] = [];
      for (const link of download_links)
        for (const { user_login, slug } of await client.lines(TeamRow, link))
          rows.push({ user: user_login, team: slug, isSeat: false });
      if (rows.length > 0) return rows;
    }
    return [];
  },
};

const Groups = z.object({
  data: z.array(z.object({ rbac_group_id: text, rbac_group_name: text })),
  next_page: text,
});
const GroupUsers = z.object({
  data: z.array(z.object({ user: z.object({ email_address: z.string().min(1).nullish() }).nullish() })),
  next_page: text,
});

/** The days of activity by which groups are looked through, and how many days Anthropic needs for one. */
const WEEK = 7;
const LATE_DAYS = 4;

/** The groups of the people who were active in a week. Rows by group name nobody, so each group is asked for. */
const ANTHROPIC_GROUPS: Roster = {
  vendor: 'anthropic-enterprise',
  name: 'anthropic-groups',
  fetch: async (client, today) => {
    const end = addDays(today, -LATE_DAYS);
    const users = `/v1/organizations/analytics/users?starting_date=${addDays(end, -WEEK)}&ending_date=${end}&limit=1000`;
    const all = async <Form extends z.ZodType<{ next_page?: string | null | undefined }>>(
      form: Form,
      path: string,
    ) =>
      client.pages(form, { path }, ({ next_page }) =>
        next_page == null ? undefined : { path: `${path}&page=${encodeURIComponent(next_page)}` },
      );
    const groups = new Map<string, string>();
    for (const { data } of await all(Groups, `${users}&group_by[]=rbac_group_id`))
      for (const { rbac_group_id: id, rbac_group_name: name } of data)
        if (id != null && name != null) groups.set(id, name);
    const rows: RosterRow[] = [];
    for (const [id, team] of groups)
      for (const { data } of await all(
        GroupUsers,
        `${users}&filter[]=${encodeURIComponent(`rbac_group_id:${id}`)}`,
      ))
        for (const { user } of data)
          if (user?.email_address != null)
            rows.push({ user: user.email_address.toLowerCase(), team, isSeat: false });
    return rows;
  },
};

export const ROSTERS: readonly Roster[] = [CURSOR_MEMBERS, GITHUB_SEATS, GITHUB_TEAMS, ANTHROPIC_GROUPS];
