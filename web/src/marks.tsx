import type { Address } from './address.js';
import { hrefOf } from './address.js';
import type { Answers } from './answers.js';
import { type Asked, useFresh, withQuery } from './client.js';
import type { Day } from './days.js';
import { dayText, figure } from './format.js';

export type Mark = Answers['getAnalyticsMarks']['data'][number];

/** The marks as of the newest day with numbers. */
export function useMarks(last: Day): Asked<Answers['getAnalyticsMarks']> {
  return useFresh(withQuery('api/v1/analytics/marks', { endDate: last }));
}

/** Something that needs a look: a word, the name that it is about, and why. */
export interface Look {
  readonly word: string;
  /** Whether it fails, warns, or only says something. */
  readonly tone: 'bad' | 'warn' | 'calm';
  readonly name: string;
  /** Said before the name. */
  readonly kind?: string;
  /** Said behind the name. */
  readonly of?: string | undefined;
  /** The page with its numbers. */
  readonly to?: Address | undefined;
  readonly reason: string;
}

/** A word that marks something. It has its colour, and says the same without it. */
export function Word({ word, tone }: Pick<Look, 'word' | 'tone'>) {
  return <b class={`word ${tone}`}>{word}</b>;
}

/** The name of what needs a look, as a link to its numbers. */
export function LookName({ kind, name, of, to }: Look) {
  return (
    <>
      {kind !== undefined && `${kind} `}
      {to === undefined ? <bdi>{name}</bdi> : <a href={hrefOf(to)}>{<bdi>{name}</bdi>}</a>}
      {of !== undefined && (
        <>
          , <bdi>{of}</bdi>
        </>
      )}
    </>
  );
}

const KINDS: Readonly<Record<Mark['kind'], string | undefined>> = {
  ...{ person: undefined, team: 'Team' },
  ...{ mcp_server: 'MCP server', tool: 'Tool', skill: 'Skill' },
};

const PAGES: Partial<Record<Mark['kind'], string>> = { person: 'people', team: 'teams' };
const FILTERS = { mcp_server: 'mcp_server', tool: 'tool' } as const;

/** The page with the numbers of a marked name; undefined if none has them. */
function pageOf(address: Address, { kind, name }: Mark): Address | undefined {
  const page = PAGES[kind];
  if (page !== undefined) return { ...address, path: [page], choices: { name } };
  if (kind === 'skill') return { ...address, path: ['tools'], choices: {} };
  if (kind !== 'mcp_server' && kind !== 'tool') return undefined;
  return { ...address, path: [], filters: { [FILTERS[kind]]: [name] }, choices: {} };
}

/** A mark with its reason in few words. */
export function lookOf(mark: Mark, address: Address): Look {
  const since = mark.since === null ? '' : ` since ${dayText(mark.since)}`;
  const failed = `${figure(mark.failed_call_ratio, 'share')} of calls failed${since}`;
  const about = {
    name: mark.name,
    of: mark.team ?? undefined,
    to: pageOf(address, mark),
    ...(KINDS[mark.kind] === undefined ? {} : { kind: KINDS[mark.kind] ?? '' }),
  };
  switch (mark.mark) {
    case 'stuck':
      return {
        ...{ ...about, word: 'stuck', tone: 'bad' },
        reason:
          mark.kind === 'team'
            ? `${peopleText(mark.users)} of the team`
            : mark.ratio_of_all === null
              ? failed
              : `${failed}, others ${figure(mark.ratio_of_all, 'share')}`,
      };
    case 'failing':
      return {
        ...{ ...about, word: 'failing', tone: 'bad' },
        reason: `${failed}, ${figure(mark.ratio_before, 'share')} before`,
      };
    case 'spreading':
      return {
        ...{ ...about, word: 'spreads', tone: 'calm' },
        reason: `${figure(mark.users, 'count')} users in 28 days${mark.users_before === null ? '' : `, ${figure(mark.users_before, 'count')} before`}`,
      };
  }
}

export const peopleText = (count: number | null): string =>
  count === 1 ? '1 person' : `${figure(count, 'count')} people`;

/** A sentence of the service with its days as the page writes them. */
export function readable(sentence: string): string {
  return sentence.replace(/\d{4}-\d\d-\d\d/g, (day) => dayText(day));
}
