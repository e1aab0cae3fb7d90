import { type Address, comparedWith, type Filter, hrefOf, rangeOf } from './address.js';
import { type Asked, together, useAnswer } from './client.js';
import type { Day } from './days.js';
import { moved, nameOf } from './format.js';
import { Problem, TableOf, useSource } from './panel.js';
import { groupOf, JOINED, type Summary, type SummaryRow, summaryPath } from './summary.js';

/** The kinds of groups that can move, and the pages of single ones. */
const KINDS = {
  team: { title: 'Teams', page: 'teams' },
  repo: { title: 'Repositories', page: 'repositories' },
  user_id: { title: 'People', page: 'people' },
  model: { title: 'Models', page: 'models' },
} as const satisfies Partial<Record<Filter, { title: string; page: string }>>;
export type KindName = keyof typeof KINDS;

/** The groups of one kind whose cost moved most, either way. */
export interface Mover {
  readonly kind: KindName;
  readonly asked: Asked<Summary>;
  readonly rows: readonly SummaryRow[];
}

/** How many groups of a kind are listed. */
const LISTED = 3;
/** The least change that is listed, in dollars. */
const LEAST = 0.005;

/** What a group's cost changed by; 0 if it isn't compared, or has no price. */
export function costMoveOf({ cost_usd, previous }: SummaryRow): number {
  return (cost_usd ?? 0) - (previous === null ? (cost_usd ?? 0) : (previous.cost_usd ?? 0));
}

/** Whether a row is one group, and not those without a name or few people. */
export function isNamed({ group_key }: SummaryRow): boolean {
  return group_key !== '' && group_key !== JOINED;
}

/** Asks for what moved most of each wanted kind. */
export function useMovers(address: Address, last: Day, wanted: readonly KindName[]): readonly Mover[] {
  const of = (kind: KindName): Mover => {
    const path = summaryPath(
      rangeOf(address, last),
      { ...address.filters, ...address.fixed },
      { groupBy: groupOf(kind), sort: 'change:abs', limit: LISTED, compare: comparedWith(address) },
    );
    const asked = useAnswer<Summary>(wanted.includes(kind) ? path : undefined);
    const rows = (asked.answer?.data ?? []).filter((row) => Math.abs(costMoveOf(row)) >= LEAST);
    return { kind, asked, rows };
  };
  const [team, repo, user, model] = [of('team'), of('repo'), of('user_id'), of('model')];
  return [team, repo, user, model].filter(({ kind }) => wanted.includes(kind));
}

/** What moved most, in lists with a scale of their own. Each name leads to its page, with the same range and numbers. */
export function Movers({ address, movers }: { address: Address; movers: readonly Mover[] }) {
  const [first, ...others] = movers;
  if (first === undefined) return null;
  return (
    <Lists
      address={address}
      movers={movers}
      asked={together(first.asked, ...others.map(({ asked }) => asked))}
    />
  );
}

function Lists({
  address,
  movers,
  asked,
}: {
  address: Address;
  movers: readonly Mover[];
  asked: Asked<Summary>;
}) {
  const isKnown = movers.every(({ asked }) => asked.answer !== undefined);
  const lists = movers.filter(({ rows }) => rows.some(isNamed));
  const table = isKnown
    ? {
        columns: ['Mover', 'Before', 'Now', 'Change'],
        dollars: ['Before', 'Now', 'Change'],
        rows: lists.flatMap(({ kind, rows }) =>
          rows.map((row) => [
            `${KINDS[kind].title}: ${row.group_key}`,
            row.previous?.cost_usd ?? null,
            row.cost_usd,
            costMoveOf(row),
          ]),
        ),
      }
    : undefined;
  const { dots, shown, below } = useSource({ name: 'movers', asked, table, definition: 'report/summary' });
  return (
    <div class="movers">
      {dots}
      {asked.error !== undefined ? (
        <Problem error={asked.error} again={asked.again} />
      ) : (
        <figure data-chart="movers" class={asked.isLoading ? 'loading' : ''} aria-busy={asked.isLoading}>
          {isKnown && lists.length === 0 && <p class="note none">Nothing moved.</p>}
          {lists.map((mover) => (
            <List key={mover.kind} address={address} mover={mover} />
          ))}
          {table && <TableOf table={table} isShown={shown === 'table'} isTwin caption="movers" />}
        </figure>
      )}
      {below}
    </div>
  );
}

function List({ address, mover: { kind, rows } }: { address: Address; mover: Mover }) {
  const { title, page } = KINDS[kind];
  const most = Math.max(...rows.map((row) => Math.abs(costMoveOf(row))));
  const { [kind]: _, ...filters } = { ...address.filters, ...address.fixed };
  const of = { ...address, path: [page], filters };
  return (
    <table class="moved">
      <thead>
        <tr>
          <th scope="col" colSpan={2}>
            {title}
          </th>
          <th scope="col" class="number">
            Change
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const name = nameOf(kind, row.group_key);
          const usd = costMoveOf(row);
          return (
            <tr key={row.group_key} data-key={row.group_key}>
              <th scope="row">
                {row.group_key === JOINED ? (
                  <bdi>{name}</bdi>
                ) : (
                  <a
                    href={hrefOf({ ...of, choices: { name: row.group_key || '(none)' } })}
                    title={row.group_key ?? ''}
                  >
                    <bdi>{name}</bdi>
                  </a>
                )}
              </th>
              <td class="by">
                <i class={usd < 0 ? 'less' : 'more'} style={{ width: `${(100 * Math.abs(usd)) / most}%` }} />
              </td>
              <td class="number">{moved(usd)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
