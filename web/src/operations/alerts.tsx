import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { type ServiceError, sendJson, useFresh } from '../client.js';
import { instantText, rangeText } from '../format.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { Done } from './dialog.js';
import { Field, Form, type Texts } from './fields.js';

type Settings = Answers['getAlerts'];
type Way = Settings['ways'][number];
type Log = Answers['getAlertsLog'];
type Delivery = Log['deliveries'][number];
type Condition = Log['alerts'][number]['condition'];

const PATH = 'api/v0/organization/alerts';
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

const CONDITIONS: Readonly<Record<Condition, string>> = {
  unbuilt_day: 'Day that isn’t built',
  budget: 'Budget',
  dear_day: 'Dear day',
  unpriced: 'No price',
  rejected: 'Rejected lines',
  silent: 'Silent',
};

const KINDS: Readonly<Record<Way['kind'], string>> = {
  email: 'E-mail',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  webhook: 'Webhook, signed',
};

/** The alerts that hold, where they go, and what couldn't be delivered. */
export function Alerts() {
  const log = useFresh<Log>(`${PATH}/log`);
  const settings = useFresh<Settings>(PATH);
  const [done, setDone] = useState('');
  const [fault, setFault] = useState('');

  /** Does something and says so, or why it failed. */
  const act = async (sentence: string, work: () => Promise<unknown>) => {
    setDone('');
    setFault('');
    try {
      await work();
      setDone(sentence);
    } catch (error) {
      setFault((error as ServiceError).message);
    }
    log.again();
    settings.again();
  };
  /** Changes the settings that are shown. */
  const change = async (changed: Partial<Pick<Settings, 'ways' | 'mutes' | 'leads'>>) => {
    if (settings.answer === undefined) return;
    const { revision, ways, mutes, leads } = settings.answer;
    const body = { ways, mutes, leads, ...changed };
    settings.take(await sendJson<Settings>('PUT', PATH, body, { 'if-match': String(revision) }));
  };
  const test = (way: string) =>
    act(`The test went to ${way}.`, async () => {
      const { answer } = await sendJson<Answers['testAlerts']>('POST', `${PATH}/test`, { way });
      if (answer !== null) throw new Error(`The test did not arrive: ${answer}.`);
    });

  return (
    <div class="panels loose">
      <div class="panel-stack span-8">
        <section class="panel" aria-labelledby="on-title">
          <header>
            <h2 id="on-title">Alerts</h2>
            <p class="note">those that hold, and those of the last 14 days, UTC</p>
          </header>
          <Done text={done} />
          <p role="alert" class="bad">
            {fault}
          </p>
          <Answered asked={log}>{({ alerts }) => <AlertList alerts={alerts} />}</Answered>
        </section>
        {log.answer?.deliveries.some(({ state }) => state !== 'delivered') && (
          <section class="panel" aria-labelledby="undelivered-title">
            <header>
              <h2 id="undelivered-title">Not delivered</h2>
              <p class="note">what waits is sent again by itself</p>
            </header>
            <DeliveryTable
              deliveries={log.answer.deliveries.filter(({ state }) => state !== 'delivered')}
              again={({ id }) =>
                act('It is sent again within half a minute.', () =>
                  sendJson('POST', `${PATH}/deliveries/${id}/retry`),
                )
              }
            />
          </section>
        )}
      </div>
      <div class="panel-stack span-4">
        <section class="panel" aria-labelledby="ways-title">
          <header>
            <h2 id="ways-title">Where they go</h2>
          </header>
          <Answered asked={settings}>
            {({ ways }) => (
              <Ways
                ways={ways}
                test={test}
                remove={(name) =>
                  act(`Nothing goes to ${name} any more.`, () =>
                    change({ ways: ways.filter((way) => way.name !== name) }),
                  )
                }
              />
            )}
          </Answered>
        </section>
        {settings.answer !== undefined && (
          <>
            <NewWay
              add={async (way) => {
                await change({ ways: [...(settings.answer?.ways ?? []), way] });
                setDone(`Alerts go to ${way.name}: press Test to see one arrive.`);
              }}
            />
            <Mutes
              settings={settings.answer}
              change={async (mutes) => {
                await change({ mutes });
                setDone('It counts from now on.');
              }}
              setLeads={(leads) =>
                act(leads ? 'Leads get the digest of their team.' : 'Leads get no digest any more.', () =>
                  change({ leads }),
                )
              }
            />
          </>
        )}
      </div>
    </div>
  );
}

function AlertList({ alerts }: { alerts: Log['alerts'] }) {
  if (alerts.length === 0)
    return <p class="note none">Nothing is on. The service looks after each build and each hour.</p>;
  return (
    <ol class="history">
      {alerts.map(({ condition, text, beganAt, endedAt }) => (
        <li key={`${condition} ${text} ${beganAt}`} class={endedAt === null ? '' : 'over'}>
          <div>
            <b>{CONDITIONS[condition]}</b>: <bdi>{text}</bdi>
            <p class="note">
              {endedAt === null
                ? `since ${instantText(beganAt)}`
                : `${instantText(beganAt)} to ${instantText(endedAt)}`}
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** What a message is about. */
function messageText({ kind, week, team }: Delivery): string {
  if (kind === 'alerts' || week === null) return 'alerts';
  const days = rangeText(week, new Date(Date.parse(week) + WEEK_MS - 1).toISOString().slice(0, 10));
  return `digest of ${team ?? 'the organization'}, ${days}`;
}

function DeliveryTable({
  deliveries,
  again,
}: {
  deliveries: Log['deliveries'];
  again: (delivery: Delivery) => void;
}) {
  const columns = [
    'Message',
    'Sent last',
    'Answer',
    <span key="again" class="unseen">
      Try again
    </span>,
  ];
  return (
    <ScrolledTable label="Messages that were not delivered" class="things" columns={columns}>
      {deliveries.map((delivery) => (
        <tr key={delivery.id}>
          <th scope="row">
            <bdi>{delivery.way ?? 'leads'}</bdi>
            <p class="note">{messageText(delivery)}</p>
          </th>
          <td>{delivery.attempts === 0 ? 'not yet' : instantText(delivery.nextAt)}</td>
          <td class="wide">
            <bdi>{delivery.answer ?? ''}</bdi>
          </td>
          <td>
            {delivery.state === 'undelivered' ? (
              <button
                type="button"
                aria-label={`Try again: ${messageText(delivery)} to ${delivery.way ?? 'leads'}`}
                onClick={() => again(delivery)}
              >
                Try again
              </button>
            ) : (
              'waits'
            )}
          </td>
        </tr>
      ))}
    </ScrolledTable>
  );
}

function Ways({
  ways,
  test,
  remove,
}: {
  ways: readonly Way[];
  test: (name: string) => void;
  remove: (name: string) => void;
}) {
  if (ways.length === 0) return <p class="note none">Nobody is told yet: add a way below.</p>;
  return (
    <ul class="history">
      {ways.map(({ name, kind, to, takes }) => (
        <li key={name}>
          <div>
            <b>
              <bdi>{name}</bdi>
            </b>
            <p class="note">
              {KINDS[kind]}
              {to.length > 0 && (
                <>
                  {' '}
                  to <bdi>{to.join(', ')}</bdi>
                </>
              )}
              : {takes.join(' and ')}
            </p>
            <div class="buttons">
              <button type="button" aria-label={`Test ${name}`} onClick={() => test(name)}>
                Test
              </button>
              <button type="button" aria-label={`Remove ${name}`} onClick={() => remove(name)}>
                Remove
              </button>
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function NewWay({ add }: { add: (way: Way) => Promise<void> }) {
  const [kind, setKind] = useState<Way['kind']>('slack');
  const send = ({ name = '', target = '', secret, takes = 'both' }: Texts) =>
    add({
      ...{ name, kind },
      url: kind === 'email' ? null : target,
      secret: kind === 'webhook' ? (secret ?? '') : null,
      to: kind === 'email' ? target.split(/[\s,;]+/).filter((address) => address !== '') : [],
      takes: takes === 'both' ? ['alerts', 'digest'] : [takes as 'alerts' | 'digest'],
    });
  return (
    <section class="panel" aria-labelledby="new-way-title">
      <header>
        <h2 id="new-way-title">Add a way</h2>
      </header>
      <Form action="Add" send={send}>
        <Field label="Name">
          <input name="name" required maxLength={64} autocomplete="off" />
        </Field>
        <Field label="Kind">
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as Way['kind'])}>
            {Object.entries(KINDS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label={kind === 'email' ? 'Addresses' : 'Address'}
          hint={
            kind === 'email'
              ? 'Several with commas between.'
              : 'It is stored encrypted. Only hosts that the service’s operator allows get messages.'
          }
        >
          <input name="target" required autocomplete="off" />
        </Field>
        {kind === 'webhook' && (
          <Field label="Key" hint="whsec_ and 24 to 64 bytes in Base64; it signs each message.">
            <input name="secret" required type="password" autocomplete="new-password" />
          </Field>
        )}
        <Field label="Gets">
          <select name="takes">
            <option value="both">alerts and the weekly digest</option>
            <option value="alerts">alerts</option>
            <option value="digest">the weekly digest</option>
          </select>
        </Field>
      </Form>
    </section>
  );
}

function Mutes({
  settings: { mutes, leads },
  change,
  setLeads,
}: {
  settings: Settings;
  change: (mutes: Settings['mutes']) => Promise<void>;
  setLeads: (leads: boolean) => void;
}) {
  const send = ({ condition, until, reason }: Texts) =>
    change([
      ...mutes.filter((mute) => mute.condition !== condition),
      { condition: condition as Condition, until: until ?? null, reason: reason ?? null },
    ]);
  return (
    <section class="panel" aria-labelledby="mutes-title">
      <header>
        <h2 id="mutes-title">Mutes and leads</h2>
      </header>
      {mutes.map((mute) => (
        <p key={mute.condition}>
          {CONDITIONS[mute.condition]} is muted{mute.until !== null && ` until ${mute.until}`}
          {mute.reason !== null && (
            <>
              : <bdi>{mute.reason}</bdi>
            </>
          )}{' '}
          <button
            type="button"
            aria-label={`End the mute of ${CONDITIONS[mute.condition]}`}
            onClick={() => void change(mutes.filter((one) => one !== mute))}
          >
            End
          </button>
        </p>
      ))}
      <Form action="Mute" send={send}>
        <Field label="What">
          <select name="condition">
            {Object.entries(CONDITIONS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Until" hint="The last day, in UTC. Without one until you end it.">
          <input name="until" type="date" />
        </Field>
        <Field label="Why">
          <input name="reason" maxLength={500} autocomplete="off" />
        </Field>
      </Form>
      <label class="check">
        <input
          type="checkbox"
          checked={leads}
          onChange={({ currentTarget }) => setLeads(currentTarget.checked)}
        />{' '}
        Leads get the digest of their team by e-mail
      </label>
    </section>
  );
}
