/**
 * The roles of credentials, the strongest first. `ingest` is for machines that only send events, `scim` for identity providers that say who
 * the people are.
 */
export const ROLES = ['owner', 'manager', 'member', 'guest', 'ingest', 'scim'] as const;
