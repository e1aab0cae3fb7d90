import { z } from 'zod';
import { ROLES } from '../input/role-names.js';

export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** Actions of the API, and the roles that may perform them. */
export const ACTIONS = {
  'use the page': ['owner', 'manager', 'member', 'guest'],
  'read analytics': ['owner', 'manager'],
  'see people by name': ['owner', 'manager'],
  'acknowledge silence': ['owner', 'manager'],
  'hide marks': ['owner', 'manager'],
  'read its own analytics': ['owner', 'manager', 'member'],
  'run SQL': ['owner', 'manager'],
  'read enterprise controls': ['owner', 'manager'],
  'change enterprise controls': ['owner'],
  'read people': ['owner', 'manager'],
  'change people': ['owner'],
  'read the audit': ['owner'],
  'change privacy': ['owner'],
  'manage budgets': ['owner'],
  'manage alerts': ['owner'],
  'manage vendors': ['owner'],
  'manage API keys': ['owner'],
  'end browser sessions': ['owner'],
  'read computers': ['owner', 'manager', 'member', 'guest'],
  'create computers': ['owner', 'manager', 'member'],
  'change computers': ['owner', 'manager', 'member'],
  'delete computers': ['owner', 'manager', 'member'],
  'retry the provisioning of computers': ['owner', 'manager', 'member'],
  "change another person's computers": ['owner', 'manager'],
  'create computers of service accounts': ['owner', 'manager'],
  'upload files to computers': ['owner', 'manager', 'member'],
  'upload files to computers of service accounts': ['owner', 'manager'],
  "upload files to another person's computers": [],
  'read readiness reports': ['owner', 'manager', 'member', 'guest'],
  'submit readiness reports': ['owner', 'manager', 'member'],
  'send events': ['owner', 'manager', 'member', 'ingest'],
  'send events of other users': ['owner', 'manager', 'ingest'],
  'provision people': ['owner', 'scim'],
} as const satisfies Record<string, readonly Role[]>;

export type Action = keyof typeof ACTIONS;

/** What only auditors may do where an organization protects people. */
export const BY_NAME: readonly Action[] = [
  'see people by name',
  'acknowledge silence',
  'hide marks',
  'run SQL',
];

export function may(role: Role, action: Action): boolean {
  return (ACTIONS[action] as readonly Role[]).includes(role);
}
