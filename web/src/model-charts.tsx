import { go, hrefOf, isChosen, rangeOf, toggled, usedIn } from './address.js';
import {
  byTokens,
  type ModelTotal,
  sumOf,
  TOKENS,
  useDailyCosts,
  useModelCosts,
  useRanking,
} from './costs.js';
import { DayChart, type Series, tableOf } from './day-chart.js';
import { missingIn } from './days.js';
import { cell, figure, money, nameOf } from './format.js';
import { Legend } from './legend.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { COLORED, colorOf, OTHERS } from './ranking.js';
import { JOINED, type SummaryRow, useDailySummary, useTotal } from './summary.js';

interface CostByModelProps extends RangeProps {
  readonly span?: 6 | 12;
  readonly height?: number;
}

/** The daily cost of each model. */
export function CostByModel({ address, last, span = 6, height = 220 }: CostByModelProps) {
  const range = rangeOf(address, last);
  const ranking = useRanking(address, last);
  const costs = useModelCosts(address, last);
  const { models } = costs;
  const whole = useTotal(address, last);
  const daily = useDailySummary(address, last);
  const unbuilt = missingIn(range, daily.answer?.data);
  const isNamed = (name: string) => ranking.slice(0, COLORED).includes(name);
  const named = models.filter(({ name }) => isNamed(name));
  const others = models.filter(({ name }) => !isNamed(name));
  // If only one model is left over, its name says more than "others".
  const rest = others.length === 1 ? (others[0]?.name ?? '') : 'others';
  const { asked, of, ofOthers } = useDailyCosts(
    address,
    last,
    costs,
    named.map(({ name }) => name),
    daily,
  );
  const series: Series[] = named.map(({ name }) => ({
    ...{ name, color: colorOf(ranking, name), mark: 'column' },
    values: of(name),
  }));
  if (others.length > 0) series.push({ name: rest, color: OTHERS, mark: 'column', values: ofOthers });
  const [row] = whole.answer?.data ?? [];
  return (
    <Panel
      name="cost-by-model"
      title="Cost by model"
      note={costText(row, usedIn(address))}
      asked={asked}
      table={asked.answer === undefined ? undefined : tableOf({ range, series, unit: 'dollars' }, true)}
      definition="report/costs"
      span={span}
    >
      <div class="beside">
        <DayChart
          label="Cost by model"
          range={range}
          unbuilt={unbuilt}
          unit="dollars"
          series={series}
          height={height}
          onName={(name) => name !== 'others' && go(toggled(address, 'model', name))}
        />
        <Legend
          address={address}
          filter="model"
          entries={[
            ...named.map(({ name, cost_usd }) => ({
              name,
              color: colorOf(ranking, name),
              text: priced(cost_usd),
            })),
            ...(others.length === 0
              ? []
              : [
                  {
                    name: rest,
                    color: OTHERS,
                    text: priced(
                      others.reduce<number | null>((sum, { cost_usd }) => sumOf(sum, cost_usd), null),
                    ),
                  },
                ]),
          ]}
        />
      </div>
    </Panel>
  );
}

function priced(cost: number | null): string {
  return cost === null ? 'no price' : figure(cost, 'dollars');
}

const NAMES: Readonly<Record<(typeof TOKENS)[number], string>> = {
  input_tokens: 'Input',
  cache_read_tokens: 'Cache read',
  cache_write_tokens: 'Cache write',
  output_tokens: 'Output',
  billable_tokens: 'Credits',
};

/** The share of a model's input that was read from the cache; null without input. */
function fromCache({
  input_tokens,
  cache_read_tokens,
  cache_write_tokens,
}: Pick<ModelTotal, 'input_tokens' | 'cache_read_tokens' | 'cache_write_tokens'>): number | null {
  const input = input_tokens + cache_read_tokens + cache_write_tokens;
  return input === 0 ? null : cache_read_tokens / input;
}

/** How many models are listed. */
const SHOWN = 6;

/** Cache reads are over nine tenths of all tokens: stacking kinds would show nothing else. */
export function TokensByModel({ address, last, span = 6 }: RangeProps & { span?: 6 | 12 }) {
  const ranking = useRanking(address, last);
  const { asked, models } = useModelCosts(address, last);
  const whole = useTotal(address, last);
  const all = byTokens(models);
  const rows = all.slice(0, SHOWN);
  const isOfModels = address.path[0] === 'models';
  const [total] = whole.answer?.data ?? [];
  const most = (member: (typeof TOKENS)[number]) => Math.max(1, ...rows.map((row) => row[member] ?? 0));
  return (
    <Panel
      name="tokens-by-model"
      title="Tokens by model and kind"
      note="bars compare models within a column"
      asked={asked}
      isTable
      table={
        asked.answer === undefined
          ? undefined
          : {
              columns: ['Model', ...TOKENS.map((kind) => NAMES[kind]), 'Cached'],
              summed: TOKENS.map((kind) => NAMES[kind]),
              rows: all.map((row) => [row.name, ...TOKENS.map((kind) => row[kind]), fromCache(row)]),
            }
      }
      definition="daily/user_models"
      span={span}
    >
      <div class="scrolls">
        <table class={span === 6 ? 'tokens' : ''}>
          <thead>
            <tr>
              <th scope="col">Model</th>
              {TOKENS.map((member) => (
                <th key={member} scope="col" class="number">
                  {NAMES[member]}
                </th>
              ))}
              <th scope="col" class="number" title="The part of the input that was read from the cache">
                Cached
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name} data-key={row.name}>
                <th scope="row" class="named">
                  <a
                    {...(row.name === JOINED ? {} : { href: hrefOf(toggled(address, 'model', row.name)) })}
                    aria-current={isChosen(address, 'model', row.name) ? 'true' : undefined}
                    title={row.name}
                  >
                    <i class="swatch" style={{ background: `var(${colorOf(ranking, row.name)})` }} />
                    <bdi>{nameOf('model', row.name)}</bdi>
                  </a>
                </th>
                {TOKENS.map((member) => (
                  <td key={member} class="number under" data-value={row[member]}>
                    {cell(row[member], 'count')}
                    <i style={{ width: `${(100 * row[member]) / most(member)}%` }} />
                  </td>
                ))}
                <td class="number">{cell(fromCache(row), 'share')}</td>
              </tr>
            ))}
          </tbody>
          {total !== undefined && (
            <tfoot>
              <tr>
                <th scope="row">All models</th>
                {TOKENS.map((member) => (
                  <td key={member} class="number">
                    {cell(total[member], 'count')}
                  </td>
                ))}
                <td class="number">{cell(fromCache(total), 'share')}</td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {all.length > SHOWN && (
        <p class="note">
          {isOfModels ? (
            `${all.length - SHOWN} more in the table`
          ) : (
            <a href={hrefOf({ ...address, path: ['models'], choices: {} })}>All models</a>
          )}
        </p>
      )}
    </Panel>
  );
}

/** What the range costs: at list price, by the terms of the organization, and what that leaves out. */
function costText(row: SummaryRow | undefined, used: string | undefined): string {
  const { cost_usd, contracted_cost = null, currency = null, unpriced_tokens = 0 } = row ?? {};
  return [
    ...(used === undefined ? [] : [`sessions that used ${used}`]),
    currency === null ? figure(cost_usd, 'dollars') : `${figure(cost_usd, 'dollars')} at list price`,
    ...(currency === null ? [] : [`${money(contracted_cost, currency)} contracted`]),
    ...(unpriced_tokens > 0 ? [`${figure(unpriced_tokens, 'count')} tokens have no price`] : []),
  ].join('; ');
}
