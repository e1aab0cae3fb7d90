/** The work of a node: answering people, taking events, or settling and building. */
export const PARTS = ['api', 'ingest', 'build'] as const;
export type Part = (typeof PARTS)[number];

/** The roles of a node. */
export const NODE_ROLES = ['all', ...PARTS] as const;
export type NodeRole = (typeof NODE_ROLES)[number];

/** Whether a node of a role does a part of the work. */
export function does(role: NodeRole, part: Part): boolean {
  return role === 'all' || role === part;
}
