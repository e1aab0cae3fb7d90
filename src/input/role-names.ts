/** The roles of credentials, the strongest first. `ingest` is for machines that only send events. */
export const ROLES = ['owner', 'manager', 'member', 'guest', 'ingest'] as const;
