import { useState } from 'preact/hooks';
import { type Address, hrefOf } from '../address.js';
import type { Answers } from '../answers.js';
import { type Budget, type BudgetsAnswer, isOver, pageOfBudget, SCOPES, useBudgets } from '../budgets.js';
import { useFresh } from '../client.js';
import { cell, dayText, exactly, figure, longMonth, UNKNOWN } from '../format.js';
import type { PageProps } from '../page-props.js';
import { Panel, type Table } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { may } from '../session.js';
import { Ask, Done } from './dialog.js';
import { Field, Form, type Texts } from './fields.js';
import { replaceShown } from './settings-revisions.js';

type Settings = Answers['getBudgets'];
type Setting = Settings['budgets'][number];

const PATH = 'api/v0/organization/budgets';

/** How many people are named at most. */
const PEOPLE = 5;

/** What of each budget is spent, what may be by the month's end, and for owners a form that sets them. */
export function Budgets({ address, session }: PageProps) {
  const asked = useBudgets();
  const isOwner = may(session, 'manage budgets');
  const settings = useFresh<Settings>(isOwner ? PATH : undefined);
  const [done, setDone] = useState('');
  const [removed, setRemoved] = useState<Setting>();
  const { data = [], meta } = asked.answer ?? {};
  const people = data.filter(({ scope, name }) => scope === 'person' && name !== null);
  const shown = people.filter(isOver).slice(0, PEOPLE);
  const rows = [...data.filter((row) => !people.includes(row)), ...shown];
  const save = async (budgets: readonly Setting[], sentence: string) => {
    try {
      await replaceShown(settings, PATH, { budgets }, 'budgets');
      setDone(sentence);
    } finally {
      asked.again();
    }
  };
  const others = (wanted: Pick<Setting, 'scope' | 'name'>) =>
    (settings.answer?.budgets ?? []).filter(
      ({ scope, name }) => scope !== wanted.scope || name !== wanted.name,
    );
  const setOf = ({ scope, name }: Budget) =>
    settings.answer?.budgets.find((one) => one.scope === scope && one.name === name);
  return (
    <div class="panels loose">
      <Panel
        name="budgets"
        title="Budgets"
        note={meta && `${longMonth(`${meta.month}-01`)}, with the forecast of its end`}
        asked={asked}
        isTable
        table={asked.answer && tableOf(asked.answer)}
        definition="report/budgets"
        span={isOwner ? 8 : 12}
      >
        <Done text={done} />
        {asked.answer !== undefined && data.length === 0 && (
          <p class="note none">
            There is no budget yet{isOwner ? ': set one beside this.' : ': an owner can set one.'}
          </p>
        )}
        {rows.length > 0 && (
          <ScrolledTable
            label="List of budgets"
            class="things budgets"
            columns={[
              ...['Of', 'Budget', 'Spent', '50, 80, 100 %', 'Forecast'],
              ...(isOwner
                ? [
                    <span key="remove" class="unseen">
                      Remove
                    </span>,
                  ]
                : []),
            ]}
            numbers={['Budget', 'Spent', 'Forecast']}
          >
            {rows.map((row) => (
              <Row
                key={`${row.scope} ${row.name}`}
                row={row}
                address={address}
                organization={session.org_id}
                remove={isOwner ? () => setRemoved(setOf(row)) : undefined}
                isSet={setOf(row) !== undefined}
              />
            ))}
          </ScrolledTable>
        )}
        {rows.length > 0 && (
          <p class="note">
            <i class="swatch" style={{ background: 'var(--accent)' }} />
            spent&ensp;
            <i class="swatch" style={{ background: 'var(--accent-line)' }} />
            forecast. The thick line is the budget.
            {people.length > shown.length &&
              ` ${figure(people.length - shown.length, 'count')} people aren’t above theirs, and stand in the table of the menu.`}
          </p>
        )}
      </Panel>
      {isOwner && settings.answer !== undefined && (
        <section class="panel span-4" aria-labelledby="set-budget-title">
          <header>
            <h2 id="set-budget-title">Set a budget</h2>
          </header>
          <SetBudget
            save={(budget) =>
              save(
                [...others(budget), budget],
                `${nameOf(budget, session.org_id)}: ${exactly(budget.usd, 'dollars')} a month.`,
              )
            }
          />
        </section>
      )}
      {removed !== undefined && (
        <Ask
          title={
            <>
              Remove the budget of <bdi>{nameOf(removed, session.org_id)}</bdi>?
            </>
          }
          action="Remove"
          act={() => save(others(removed), `${nameOf(removed, session.org_id)} has no budget any more.`)}
          onClose={() => setRemoved(undefined)}
        >
          <p>What is spent stays as it is. Nobody is told any more when it is above.</p>
        </Ask>
      )}
    </div>
  );
}

/** What a budget is of, in words. */
function nameOf({ scope, name }: Pick<Setting, 'scope' | 'name'>, organization: string): string {
  if (scope === 'organization') return organization;
  return name ?? 'each person';
}

interface RowProps {
  readonly row: Budget;
  readonly address: Address;
  readonly organization: string;
  readonly remove: (() => void) | undefined;
  /** Whether it is set itself, and not that of each person. */
  readonly isSet: boolean;
}

function Row({ row, address, organization, remove, isSet }: RowProps) {
  const { scope, name, budget_usd, spent_usd, forecast_usd, people, people_above } = row;
  const called = nameOf(row, organization);
  const to = name === null ? undefined : pageOfBudget(address, row);
  const isOfAll = scope === 'person' && name === null;
  const share = (usd: number | null) => (usd === null ? UNKNOWN : figure(usd / budget_usd, 'share'));
  return (
    <tr>
      <th scope="row">
        {to === undefined ? (
          <bdi>{called}</bdi>
        ) : (
          <a href={hrefOf(to)}>
            <bdi>{called}</bdi>
          </a>
        )}{' '}
        <span class="note">{isOfAll ? '' : SCOPES[scope]}</span>
      </th>
      <td class="number">{cell(budget_usd, 'dollars')}</td>
      {isOfAll ? (
        <td class="note" colSpan={3}>
          {people_above === null
            ? 'not shown, because it would be of few people'
            : `${figure(people_above, 'count')} of ${figure(people, 'count')} people above`}
        </td>
      ) : (
        <>
          <td class="number">
            <b>{cell(spent_usd, 'dollars')}</b>
          </td>
          <td>
            <Bar row={row} />
          </td>
          <td class="number">
            {cell(forecast_usd, 'dollars')} <span class="note">{share(forecast_usd)}</span>
          </td>
        </>
      )}
      {remove !== undefined && (
        <td class="number">
          {isSet && (
            <button type="button" aria-label={`Remove the budget of ${called}`} onClick={remove}>
              Remove
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

/** Where on a bar the budget is: room is left for what is above it. */
const FULL = 0.75;

/** Dark is what is spent, pale the forecast; thin ticks are at half and four fifths, and the thick one is the budget. */
function Bar({ row: { spent_usd, forecast_usd, budget_usd, half_on, most_on, all_on } }: { row: Budget }) {
  const width = (usd: number | null) => `${100 * Math.min(1, ((usd ?? 0) / budget_usd) * FULL)}%`;
  const days = [
    ['50 %', half_on],
    ['80 %', most_on],
    ['100 %', all_on],
  ] as const;
  const title = days
    .flatMap(([part, day]) => (day === null ? [] : [`${part} on ${dayText(day)}`]))
    .join(', ');
  return (
    <div class="budget-bar" title={title}>
      <i class="forecast" style={{ width: width(forecast_usd) }} />
      <i class="spent" style={{ width: width(spent_usd) }} />
      {[0.5, 0.8, 1].map((part) => (
        <i
          key={part}
          class={part === 1 ? 'mark-of whole' : 'mark-of'}
          style={{ left: `${100 * part * FULL}%` }}
        />
      ))}
    </div>
  );
}

function SetBudget({ save }: { save: (budget: Setting) => Promise<void> }) {
  const [scope, setScope] = useState<Setting['scope']>('organization');
  const send = async ({ name, usd }: Texts) => {
    await save({ scope, name: scope === 'organization' ? null : (name ?? null), usd: Number(usd) });
    // The form is empty again.
    setScope('organization');
  };
  return (
    <Form action="Set" send={send}>
      <Field label="Of">
        <select
          name="scope"
          value={scope}
          onChange={({ currentTarget }) => setScope(currentTarget.value as Setting['scope'])}
        >
          {Object.entries(SCOPES).map(([key, text]) => (
            <option key={key} value={key} selected={key === scope}>
              {text}
            </option>
          ))}
        </select>
      </Field>
      {scope !== 'organization' && (
        <Field
          label="Name"
          hint={scope === 'person' ? 'a user id; leave it empty for each person without one' : undefined}
        >
          <input name="name" maxLength={256} autocomplete="off" required={scope !== 'person'} />
        </Field>
      )}
      <Field label="Dollars a month" hint="of the price list, in UTC; it takes the place of the one before">
        <input name="usd" type="number" min="0.01" step="0.01" required />
      </Field>
    </Form>
  );
}

function tableOf({ data }: BudgetsAnswer): Table {
  const columns = ['Budget', 'Spent', 'Forecast', 'Low', 'High'];
  return {
    columns: ['Of', 'Kind', ...columns, 'State'],
    dollars: columns,
    rows: data.map((row) => [
      ...[row.name ?? (row.scope === 'person' ? 'each person' : ''), SCOPES[row.scope]],
      ...[row.budget_usd, row.spent_usd, row.forecast_usd, row.forecast_low_usd, row.forecast_high_usd],
      row.state,
    ]),
  };
}
