import { useState } from 'preact/hooks';
import { type Address, hrefOf } from './address.js';
import type { Answers } from './answers.js';
import { budgetLooks, useBudgets } from './budgets.js';
import { together, useFresh } from './client.js';
import { type ModelCosts, useModelCosts } from './costs.js';
import { countOf, dayText, figure, nameOf, UNKNOWN } from './format.js';
import { type Look, LookName, lookOf, type Mark, useMarks, Word } from './marks.js';
import type { RangeProps } from './page-props.js';
import { Panel } from './panel.js';
import { may, type Session } from './session.js';
import { JOINED } from './summary.js';

/** How many marks are shown at first. */
const SHOWN = 7;

type Silence = Answers['getAnalyticsSilence'];

/** What needs a look in the whole organization, the worst first. */
export function NeedsALook({ address, last, session }: RangeProps & { session: Session }) {
  const [isWhole, setIsWhole] = useState(false);
  const marks = useMarks(last);
  const budgets = useBudgets();
  const silence = useFresh<Silence>('api/v1/analytics/silence?state=silent');
  const costs = useModelCosts(address, last);
  const asked = together(marks, budgets, silence, costs.asked);
  const isKnown = [marks, budgets, silence, costs.asked].every(({ answer }) => answer !== undefined);
  const found = (marks.answer?.data ?? []).filter(({ hidden_at }) => hidden_at === null);
  const stuckPeople = found.some(({ kind }) => kind === 'person');
  const ofKind = (wanted: Mark['mark']) =>
    found
      // Whoever sees the people needs no count of them.
      .filter(({ mark, kind }) => mark === wanted && !(kind === 'team' && stuckPeople))
      .map((mark) => lookOf(mark, address));
  const looks = [
    ...ofKind('stuck'),
    ...budgetLooks(budgets.answer?.data ?? [], address, session.org_id),
    ...silentLooks(silence.answer, may(session, 'see people by name') ? address : undefined),
    ...ofKind('failing'),
    ...unpricedLooks(costs, address),
    ...ofKind('spreading'),
  ];
  return (
    <Panel
      name="needs-a-look"
      title="Needs a look"
      note={looks.length > SHOWN && !isWhole ? `${SHOWN} of ${looks.length}` : undefined}
      asked={asked}
      isTable
      table={
        isKnown
          ? {
              columns: ['What', 'Mark', 'Reason'],
              rows: looks.map(({ name, word, reason }) => [name, word, reason]),
            }
          : undefined
      }
      definition="report/stuck_people"
      span={4}
    >
      {!isKnown && <p class="note none waits">{UNKNOWN}</p>}
      {isKnown && looks.length === 0 && (
        <p class="note none">Nothing needs a look: checked up to {dayText(last)}.</p>
      )}
      {isKnown && looks.length > 0 && (
        <ul class="looks">
          {looks.slice(0, isWhole ? undefined : SHOWN).map((look) => (
            <li key={`${look.word} ${look.kind} ${look.name}`}>
              <Word {...look} />
              <p>
                <LookName {...look} />
                <span class="note">{look.reason}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
      {isKnown && looks.length > SHOWN && (
        <button type="button" class="more" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `The worst ${SHOWN}` : `All ${looks.length}`}
        </button>
      )}
      {isKnown && looks.length > 0 && (
        <p class="note">
          As of {dayText(last)}.{' '}
          <a href={hrefOf({ ...address, path: ['numbers'], choices: {} })}>When something is marked</a>
        </p>
      )}
    </Panel>
  );
}

/** All silent laptops and agents in one mark. */
function silentLooks(silence: Silence | undefined, address: Address | undefined): Look[] {
  if (silence === undefined) return [];
  const { silent_collectors: laptops, silent_agents: agents } = silence.meta;
  if (laptops + agents === 0) return [];
  const counts = [
    ...(laptops > 0 ? [countOf(laptops, 'laptop')] : []),
    ...(agents > 0 ? [countOf(agents, 'agent')] : []),
  ];
  const [longest] = [...silence.data].sort((one, other) => (one.last_day < other.last_day ? -1 : 1));
  return [
    {
      ...{ word: 'silent', tone: 'warn', name: counts.join(', ') },
      to: address && { ...address, path: ['trust'], choices: {} },
      reason:
        longest === undefined
          ? 'nothing heard for three working days'
          : `longest: ${longest.user_id}, since ${dayText(longest.last_day)}`,
    },
  ];
}

/** The models of the range without a price. */
function unpricedLooks({ models }: ModelCosts, address: Address): Look[] {
  return models
    .filter(({ unpriced_tokens }) => unpriced_tokens > 0)
    .sort((one, other) => other.unpriced_tokens - one.unpriced_tokens)
    .map(({ name, unpriced_tokens }) => ({
      ...{ word: 'no price', tone: 'warn', name: nameOf('model', name) },
      to: name === JOINED ? undefined : { ...address, path: ['models'], choices: { name } },
      reason: `${figure(unpriced_tokens, 'count')} tokens are in no cost`,
    }));
}
