import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type Address,
  earlierOf,
  FILTERS,
  type Filter,
  go,
  hrefOf,
  isChosen,
  RANGES,
  type RangeName,
  rangeOf,
  toggled,
} from './address.js';
import { ChosenSessions } from './chosen-sessions.js';
import { analyticsPath, read, useAnswer, useSettled } from './client.js';
import { addDays, type Day, isDay, lengthOf, today, workingDaysIn } from './days.js';
import { dayText, nameOf, rangeText, waitingText } from './format.js';
import { closeMenu } from './menu.js';
import { may, type Session } from './session.js';
import { groupOf, JOINED, type Summary, summaryPath, totalPath } from './summary.js';
import { useTyped } from './typed-text.js';

export const FILTER_NAMES: Readonly<Record<Filter, string>> = {
  user_id: 'Person',
  team: 'Team',
  cost_center: 'Cost centre',
  model: 'Model',
  agent: 'Agent',
  repo: 'Repository',
  client: 'Client',
  tool: 'Tool',
  mcp_server: 'MCP server',
};

interface RangeHeadProps {
  readonly address: Address;
  readonly session: Session;
  readonly last: Day;
  readonly title: ComponentChildren;
  /** A filter that isn't offered, because the page is already about one value of it. */
  readonly without?: Filter;
  /** The purpose of a page whose numbers are always the whole organization's. */
  readonly lead?: string;
  /** Facts about the subject of the page. */
  readonly about?: ComponentChildren;
  /** Whether the page can also show the open day. */
  readonly hasToday?: boolean;
}

/** The title of a page, with its range and filters, which are kept in the address. */
export function RangeHead(props: RangeHeadProps) {
  const { address, session, last, title, without, lead, about, hasToday = false } = props;
  const range = rangeOf(address, last);
  // What the page's first number is asked with.
  const { isLoading } = useAnswer(
    lead === undefined ? totalPath(address, last) : analyticsPath('quality', range),
  );
  const shown = useSettled(range, isLoading);
  const earlier = useSettled(earlierOf(address, last), isLoading);
  // Days are compared whole or not at all.
  const { first } = session.days;
  const hasEarlier = first !== null && earlier.from >= first;
  // If the range ends with the newest built day, newer stale days are included.
  const stale = session.days.stale.filter(
    (day) => day >= range.from && (day <= range.to || range.to === last),
  );
  const isOld =
    last < addDays(today(), -2) && address.rangeName !== 'custom' && !stale.some((day) => day > last);
  return (
    <div class="top" aria-busy={isLoading}>
      <div>
        <h1>{title}</h1>
        <p>
          <b>{rangeText(shown.from, shown.to)}</b>, days in UTC
          {lead !== undefined ? (
            `. ${lead}`
          ) : !hasEarlier && first !== null ? (
            <>. Data begins {dayText(first)}: not compared</>
          ) : (
            <>
              , against {rangeText(earlier.from, earlier.to)}
              {workingDaysIn(shown) !== workingDaysIn(earlier) &&
                ` (${workingDaysIn(shown)} working days, then ${workingDaysIn(earlier)})`}
            </>
          )}
          {isOld && <>. There are no events after {dayText(last)}</>}
        </p>
        {about}
        {lead === undefined && stale.length > 0 && (
          <p class="warned">
            {waitingText(stale.length)}: numbers are old or missing.
            {may(session, 'read analytics') && (
              <>
                {' '}
                <a href={hrefOf({ ...address, path: ['trust'], choices: {} })}>See Trust</a>
              </>
            )}
          </p>
        )}
      </div>
      <nav class="choice" aria-label="Range">
        {Object.entries(RANGES).map(([name, label]) => (
          <a
            key={name}
            href={hrefOf({ ...address, rangeName: name as RangeName, custom: undefined })}
            aria-current={name === address.rangeName ? 'true' : undefined}
          >
            {label}
          </a>
        ))}
        <Custom address={address} last={last} first={session.days.first} />
      </nav>
      {hasToday && <TodaySwitch address={address} />}
      {lead === undefined && <AddFilter address={address} last={last} session={session} without={without} />}
      <Chips address={address} />
      <ChosenSessions address={address} last={last} />
    </div>
  );
}

/** Shows or hides the day that isn't over. */
function TodaySwitch({ address }: { address: Address }) {
  const { today: present, ...others } = address.choices;
  const choices = present === undefined ? { ...others, today: '1' } : others;
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={present !== undefined}
      onClick={() => go({ ...address, choices })}
    >
      Today so far
    </button>
  );
}

/** A form for a range of any days. */
function Custom({ address, last, first }: { address: Address; last: Day; first: Day | null }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const { from, to } = rangeOf(address, last);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const [one, other] = [String(data.get('from')), String(data.get('to'))].sort();
    if (one === undefined || other === undefined || !isDay(one) || !isDay(other)) return;
    closeMenu(menu.current);
    go({ ...address, rangeName: 'custom', custom: { from: one, to: other } });
  };
  const limits = { min: first ?? undefined, max: addDays(today(), -1), required: true };
  return (
    <details class="menu" ref={menu}>
      <summary aria-current={address.rangeName === 'custom' ? 'true' : undefined}>Custom</summary>
      <form class="pop" onSubmit={submit}>
        <label>
          First day
          <input type="date" name="from" defaultValue={from} {...limits} />
        </label>
        <label>
          Last day
          <input type="date" name="to" defaultValue={to} {...limits} />
        </label>
        <p class="note">{lengthOf({ from, to })} days are shown now</p>
        <button type="submit" class="main">
          Show these days
        </button>
      </form>
    </details>
  );
}

interface AddFilterProps extends Pick<RangeHeadProps, 'address' | 'last' | 'session'> {
  readonly without: Filter | undefined;
}

/** Adds filters: first the member is chosen, then some of its values. */
function AddFilter({ address, last, session, without }: AddFilterProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [filter, setFilter] = useState<Filter>();
  const seesNames = may(session, 'see people by name');
  const offered = FILTERS.filter((name) => name !== without && (seesNames || name !== 'user_id'));
  return (
    <details class="menu" ref={menu} onToggle={() => menu.current?.open || setFilter(undefined)}>
      <summary class="button">+ Filter</summary>
      <div class="pop">
        {filter === undefined ? (
          offered.map((name) => (
            <button key={name} type="button" onClick={() => setFilter(name)}>
              {FILTER_NAMES[name]}
            </button>
          ))
        ) : (
          <Values
            filter={filter}
            address={address}
            last={last}
            toggle={(value) => go(toggled(address, filter, value))}
            close={() => closeMenu(menu.current)}
          />
        )}
      </div>
    </details>
  );
}

interface ValuesProps {
  readonly filter: Filter;
  readonly address: Address;
  readonly last: Day;
  readonly toggle: (value: string) => void;
  readonly close: () => void;
}

/** The values of a filter. A press adds or removes one; Enter does it with the first, and closes the menu. */
function Values({ filter, address, last, toggle, close }: ValuesProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { [filter]: _, ...others } = address.filters;
  const pathOf = (search?: string) =>
    summaryPath(
      rangeOf(address, last),
      { ...others, ...address.fixed },
      {
        groupBy: groupOf(filter),
        sort: filter === 'tool' || filter === 'mcp_server' ? 'tool_calls' : 'sessions',
        limit: 100,
        search,
      },
    );
  const { answer, error } = useAnswer<Summary>(pathOf());
  const typed = useTyped(text);
  // If there are more than a hundred values, the service searches the others.
  const isCut = answer?.meta.has_more === true && typed !== '';
  const more = useAnswer<Summary>(isCut ? pathOf(typed) : undefined);
  const fault = error ?? more.error;
  const rows = [...(answer?.data ?? []), ...(more.answer?.data ?? [])];
  const values = [...new Set(rows.map(({ group_key }) => group_key || '(none)'))].filter(
    (value) => value !== JOINED,
  );
  const found = values.filter((value) => value.toLowerCase().includes(text.toLowerCase()));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    // Until the values have loaded, the text can be the beginning of one.
    if (answer === undefined) return;
    const isAsked = found.length === 0 && answer.meta.has_more && text !== '';
    const [first] = isAsked ? ((await read(pathOf(text))) as Summary).data : [];
    const value = found[0] ?? (first?.group_key || text);
    if (value === '') return;
    close();
    toggle(value);
  };
  return (
    // The list below shows the error.
    <form onSubmit={(event) => void submit(event).catch(() => {})}>
      <input
        ref={field}
        aria-label={FILTER_NAMES[filter]}
        placeholder={FILTER_NAMES[filter]}
        maxLength={255}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="values">
        {found.map((value) => (
          <button
            key={value}
            type="button"
            title={value}
            aria-pressed={isChosen(address, filter, value)}
            onClick={() => toggle(value)}
          >
            <bdi>{nameOf(filter, value)}</bdi>
          </button>
        ))}
        {fault !== undefined && <p class="note">{fault.message}</p>}
        {fault === undefined && answer !== undefined && found.length === 0 && (
          <p class="note">Nothing in this range has this name.</p>
        )}
        {(isCut ? more.answer : answer)?.meta.has_more && (
          <p class="note">There are more: type {typed === '' ? 'a part' : 'more'} of the name</p>
        )}
      </div>
    </form>
  );
}

function Chips({ address }: { address: Address }) {
  const present = FILTERS.flatMap((name) => (address.filters[name] ?? []).map((value) => ({ name, value })));
  if (present.length === 0) return null;
  return (
    <div class="chips">
      {present.map(({ name, value }) => (
        <span key={`${name} ${value}`} class="chip" title={value}>
          {FILTER_NAMES[name]}: <bdi>{nameOf(name, value)}</bdi>
          <a
            href={hrefOf(toggled(address, name, value))}
            aria-label={`Remove the filter ${FILTER_NAMES[name]}: ${nameOf(name, value)}`}
          >
            ×
          </a>
        </span>
      ))}
      {present.length > 1 && <a href={hrefOf({ ...address, filters: {} })}>Remove all</a>}
    </div>
  );
}
