import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { useFresh } from '../client.js';
import { countOf, dayText, figure, instantText } from '../format.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { VENDOR_NAMES } from '../vendor-bills.js';
import { Ask, Done } from './dialog.js';
import { Field, Form, type Texts } from './fields.js';
import { replaceShown } from './settings-revisions.js';

type Settings = Answers['getVendors'];
type Vendor = Settings['vendors'][number];
type Pulls = Answers['getVendorsPulls']['pulls'];

const PATH = 'api/v0/organization/vendors';

/** What each vendor calls an account, if its address has one. */
const ACCOUNTS: Readonly<Partial<Record<Vendor['vendor'], string>>> = {
  github: 'orgs/NAME or enterprises/NAME',
  openai: 'the id of the workspace',
};

/** Which vendors' APIs are pulled each night, and what came of it. */
export function Vendors() {
  const settings = useFresh<Settings>(PATH);
  const pulls = useFresh<Answers['getVendorsPulls']>(`${PATH}/pulls`);
  const [done, setDone] = useState('');
  const [removed, setRemoved] = useState<Vendor>();
  const save = async (vendors: readonly Vendor[], sentence: string) => {
    await replaceShown(settings, PATH, { vendors }, 'vendors');
    setDone(sentence);
  };
  const others = (name: string) => (settings.answer?.vendors ?? []).filter(({ vendor }) => vendor !== name);
  return (
    <div class="panels loose">
      <section class="panel span-8" aria-labelledby="pulls-title">
        <header>
          <h2 id="pulls-title">Reports</h2>
          <p class="note">the last pull of each, UTC</p>
        </header>
        <Done text={done} />
        <Answered asked={pulls}>{(answer) => <PullTable pulls={answer.pulls} />}</Answered>
      </section>
      <div class="panel-stack span-4">
        <section class="panel" aria-labelledby="vendors-title">
          <header>
            <h2 id="vendors-title">Vendors</h2>
          </header>
          <Answered asked={settings}>
            {({ vendors }) => <VendorList vendors={vendors} remove={setRemoved} />}
          </Answered>
        </section>
        {settings.answer !== undefined && (
          <SetVendor
            save={(vendor) =>
              save(
                [...others(vendor.vendor), vendor],
                `${VENDOR_NAMES[vendor.vendor]} is pulled from the next night on.`,
              )
            }
          />
        )}
      </div>
      {removed !== undefined && (
        <Ask
          title={`Pull nothing of ${VENDOR_NAMES[removed.vendor]} any more?`}
          action="Remove"
          act={() => save(others(removed.vendor), `${VENDOR_NAMES[removed.vendor]} isn’t pulled any more.`)}
          onClose={() => setRemoved(undefined)}
        >
          <p>Its key is deleted. What was pulled stays.</p>
        </Ask>
      )}
    </div>
  );
}

/** How many missed days are named. */
const NAMED = 3;

function missedText(missed: readonly string[]): string {
  const days = [...missed].sort();
  const rest = days.length > NAMED ? ` and ${figure(days.length - NAMED, 'count')} more` : '';
  return `${days.slice(0, NAMED).map(dayText).join(', ')}${rest}`;
}

function PullTable({ pulls }: { pulls: Pulls }) {
  if (pulls.length === 0)
    return (
      <p class="note none">
        Nothing was pulled yet. The service pulls each night, and "daybook pull" at once.
      </p>
    );
  return (
    <>
      <ScrolledTable
        label="Last pulls"
        class="things"
        columns={['Report', 'Pulled', 'Days', 'Changed', 'Missed']}
        numbers={['Days', 'Changed']}
      >
        {pulls.map(({ report, pulledAt, isLate, days, changed, missed, fault }) => (
          <tr key={report}>
            <th scope="row">
              <i class={fault === null && missed.length === 0 && !isLate ? 'state ok' : 'state warn'} />
              {report}
            </th>
            <td>
              {instantText(pulledAt)}
              {isLate && <p class="note">more than a night ago</p>}
            </td>
            <td class="number">{figure(days, 'count')}</td>
            <td class="number">{figure(changed, 'count')}</td>
            <td>
              {missed.length === 0 ? 'none' : countOf(missed.length, 'day')}
              {missed.length > 0 && <p class="note">{missedText(missed)}</p>}
            </td>
          </tr>
        ))}
      </ScrolledTable>
      {pulls.map(
        ({ report, fault }) =>
          fault !== null && (
            <p key={report} class="note">
              <i class="state warn" />
              {report}: <bdi>{fault}</bdi>.
            </p>
          ),
      )}
    </>
  );
}

function VendorList({ vendors, remove }: { vendors: readonly Vendor[]; remove: (vendor: Vendor) => void }) {
  if (vendors.length === 0) return <p class="note none">No vendor is pulled yet: set one below.</p>;
  return (
    <ul class="history">
      {vendors.map((one) => {
        const { vendor, key, account, url, since, bills, rosters } = one;
        const facts = [
          `key ${key}`,
          ...(account === null ? [] : [account]),
          ...(url === null ? [] : [`at ${url}`]),
          ...(since === null ? [] : [`from ${dayText(since)} on`]),
          bills ? 'with bills' : 'without bills',
          ...(rosters === false ? ['without lists of people'] : []),
        ];
        return (
          <li key={vendor}>
            <div>
              <b>{VENDOR_NAMES[vendor]}</b>
              <p class="note">
                <bdi>{facts.join(', ')}</bdi>
              </p>
            </div>
            <button type="button" aria-label={`Remove ${VENDOR_NAMES[vendor]}`} onClick={() => remove(one)}>
              Remove
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function SetVendor({ save }: { save: (vendor: Vendor) => Promise<void> }) {
  const [vendor, setVendor] = useState<Vendor['vendor']>('anthropic');
  const [bills, setBills] = useState(true);
  const hint = ACCOUNTS[vendor];
  const send = ({ key = '', account, since }: Texts) =>
    save({ vendor, key, account: account ?? null, url: null, since: since ?? null, bills } as Vendor);
  return (
    <section class="panel" aria-labelledby="set-vendor-title">
      <header>
        <h2 id="set-vendor-title">Set a vendor</h2>
      </header>
      <Form action="Set" send={send}>
        <Field label="Vendor">
          <select
            name="vendor"
            value={vendor}
            onChange={({ currentTarget }) => setVendor(currentTarget.value as Vendor['vendor'])}
          >
            {Object.entries(VENDOR_NAMES).map(([name, title]) => (
              <option key={name} value={name} selected={name === vendor}>
                {title}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Key" hint="It is stored encrypted, and never shown again.">
          <input name="key" type="password" required maxLength={1024} autocomplete="off" />
        </Field>
        {hint !== undefined && (
          <Field label="Account" hint={hint}>
            <input name="account" required maxLength={200} autocomplete="off" />
          </Field>
        )}
        <Field label="First day" hint="Without one, as far back as the vendor may still change.">
          <input name="since" type="date" />
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={bills}
            onChange={({ currentTarget }) => setBills(currentTarget.checked)}
          />{' '}
          Fetch its bills too
        </label>
      </Form>
    </section>
  );
}
