import { useState } from 'preact/hooks';
import type { Answers } from '../answers.js';
import { useFresh, withQuery } from '../client.js';
import { instantText } from '../format.js';
import { Paging } from '../paging.js';
import { Answered } from '../panel.js';
import { ScrolledTable } from '../scrolled-table.js';
import { Field, Form, type Texts } from './fields.js';

type Read = Answers['getAudit']['reads'][number];

const PATH = 'api/v0/organization/audit';
const PAGE = 50;

/** The filters, with the words that the page has for them. */
const FILTERS: Readonly<Record<string, string>> = {
  about: 'about',
  userId: 'by',
  fingerprint: 'by the key',
  from: 'from',
  to: 'to',
};

/** Who asked for which answers about whom. */
export function Audit() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [only, setOnly] = useState<Texts>({});
  const asked = useFresh<Answers['getAudit']>(
    withQuery(PATH, { ...only, limit: PAGE, cursor: cursors.at(-1) }),
  );
  const show = (filters: Texts) => {
    setOnly(filters);
    setCursors([]);
  };
  const shown = Object.entries(only).map(([name, value]) => `${FILTERS[name]} ${value}`);
  return (
    <div class="panels loose">
      <section class="panel span-8" aria-labelledby="audit-title">
        <header>
          <h2 id="audit-title">Who asked about whom</h2>
          <p class="note">reads, newest first, kept for 90 days</p>
        </header>
        {shown.length > 0 && (
          <p class="note">
            Only <bdi>{shown.join(', ')}</bdi>.{' '}
            <button type="button" onClick={() => show({})}>
              Show all
            </button>
          </p>
        )}
        <Answered asked={asked}>{({ reads }) => <Reads reads={reads} />}</Answered>
        <Paging
          cursors={cursors}
          next={asked.isLoading ? undefined : asked.answer?.pagination.nextCursor}
          turn={setCursors}
          names={['Newer', 'Older']}
        />
      </section>
      <div class="panel-stack">
        <section class="panel" aria-labelledby="audit-filter-title">
          <header>
            <h2 id="audit-filter-title">Show only</h2>
          </header>
          <Form action="Show" send={async (texts) => show(texts)}>
            <Field label="About" hint="The user who was asked about by name.">
              <input name="about" autocomplete="off" />
            </Field>
            <Field label="By" hint="The user who asked.">
              <input name="userId" autocomplete="off" />
            </Field>
            <Field label="Key" hint="The fingerprint of the key or other credential that asked.">
              <input name="fingerprint" autocomplete="off" />
            </Field>
            <Field label="First day" hint="In UTC.">
              <input name="from" type="date" />
            </Field>
            <Field label="Last day">
              <input name="to" type="date" />
            </Field>
          </Form>
        </section>
      </div>
    </div>
  );
}

const COLUMNS = ['Time', 'Who', 'Asked for', 'About', 'From'];

function Reads({ reads }: { reads: readonly Read[] }) {
  if (reads.length === 0) return <p class="note none">Nobody has asked about people here.</p>;
  return (
    <ScrolledTable label="Reads" class="things" columns={COLUMNS}>
      {reads.map((read, index) => (
        <tr key={index}>
          <td title={read.askedAt}>{instantText(read.askedAt)}</td>
          <th scope="row">
            <bdi title={read.userId ?? ''}>{read.userId ?? 'no user'}</bdi>
            <code title="Names the credential in logs and under API keys">{read.fingerprint}</code>
          </th>
          <td>
            {read.path.replace(/^\/api\/v\d\//, '')}
            {read.sql !== null && (
              <span class="note" title={`SHA-256 of the statement: ${read.sql.digest}…`}>
                {' '}
                {read.sql.tables.join(', ')}
              </span>
            )}
            {read.status === 403 && <b> refused</b>}
          </td>
          <td>
            <About read={read} />
          </td>
          <td>{read.address}</td>
        </tr>
      ))}
    </ScrolledTable>
  );
}

function About({ read: { scope, about } }: { read: Read }) {
  if (about !== null) return <bdi title={about}>{about}</bdi>;
  return <span class="note">{scope === 'everyone' ? 'everyone' : 'nobody by name'}</span>;
}
