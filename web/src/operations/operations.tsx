import type { ComponentType } from 'preact';
import { hrefOf } from '../address.js';
import type { PageProps } from '../page-props.js';
import { may, type Session } from '../session.js';
import { useTitle } from '../title.js';
import { Alerts } from './alerts.js';
import { Audit } from './audit.js';
import { Budgets } from './budgets.js';
import { Computers } from './computers.js';
import { Controls } from './controls.js';
import { Keys } from './keys.js';
import { People } from './people.js';
import { Privacy } from './privacy.js';
import { Readiness } from './readiness.js';
import { Vendors } from './vendors.js';

/** The places for operating Daybook, each with the action that a role needs to see it. */
const PLACES: readonly {
  readonly path: string;
  readonly name: string;
  readonly lead: string;
  readonly action: Session['actions'][number];
  readonly Place: ComponentType<PageProps>;
}[] = [
  {
    path: 'computers',
    name: 'Computers',
    lead: 'Machines that agents work on, what makes them ready, and files for them',
    action: 'read computers',
    Place: Computers,
  },
  {
    path: 'readiness',
    name: 'Readiness',
    lead: 'How ready repositories are for agents, and what raises their level',
    action: 'read readiness reports',
    Place: Readiness,
  },
  {
    path: 'people',
    name: 'People',
    lead: 'Who is who, in which team and cost centre, and since when',
    action: 'read people',
    Place: People,
  },
  {
    path: 'budgets',
    name: 'Budgets',
    lead: 'What may be spent in a month, and whether it is enough',
    action: 'read analytics',
    Place: Budgets,
  },
  {
    path: 'controls',
    name: 'Controls',
    lead: 'Settings of the whole organization, and who changed them',
    action: 'read enterprise controls',
    Place: Controls,
  },
  {
    path: 'alerts',
    name: 'Alerts',
    lead: 'What people are told without asking, and where',
    action: 'manage alerts',
    Place: Alerts,
  },
  {
    path: 'vendors',
    name: 'Vendors',
    lead: 'Whose APIs are pulled each night, and what came of it',
    action: 'manage vendors',
    Place: Vendors,
  },
  {
    path: 'keys',
    name: 'API keys',
    lead: 'What programs and people sign in with',
    action: 'manage API keys',
    Place: Keys,
  },
  {
    path: 'audit',
    name: 'Audit',
    lead: 'Who asked for which numbers about whom, when and from where',
    action: 'read the audit',
    Place: Audit,
  },
  {
    path: 'privacy',
    name: 'Privacy',
    lead: 'Who may see whose numbers by name',
    action: 'use the page',
    Place: Privacy,
  },
];

export function Operations({ address, session }: PageProps) {
  const allowed = PLACES.filter(({ action }) => may(session, action));
  const wanted = address.path[1] ?? allowed[0]?.path;
  const place = allowed.find(({ path }) => path === wanted);
  useTitle(place?.name ?? 'Operations');
  return (
    <>
      <div class="top">
        <div>
          <h1 tabIndex={-1}>{place?.name ?? 'Operations'}</h1>
          <p>{place?.lead}</p>
        </div>
        <nav class="choice places" aria-label="Operations">
          {allowed.map(({ path, name }) => (
            <a
              key={path}
              href={hrefOf({ ...address, path: ['operations', path], choices: {} })}
              aria-current={path === place?.path ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      </div>
      {place === undefined ? (
        <p class="problem">
          {PLACES.some(({ path }) => path === wanted)
            ? `Your role may not ${PLACES.find(({ path }) => path === wanted)?.action}: ask an owner of the organization.`
            : 'There is no page here: choose one above.'}
        </p>
      ) : (
        <place.Place key={place.path} address={address} session={session} />
      )}
    </>
  );
}
