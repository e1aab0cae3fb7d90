import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '../api/route-family.js';
import { askOwn } from './ask-route.js';
import { ownApp } from './own-app.js';
import { callWith, type ToolAnswer, type ToolArguments } from './tool-call.js';
import { toolsOf } from './tool-list.js';

/**
 * Calls a tool for the user of the data folder, who may read everything in it, through the routes of the running service, else through
 * routes in this process.
 */
export async function callLocally(
  deps: Pick<ApiDeps, 'store' | 'config' | 'clock'> & { readonly app?: FastifyInstance | undefined },
  { orgId, name, args }: { orgId: string; name: string; args: ToolArguments },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const app = deps.app ?? ownApp(deps);
  const caller = { orgId, role: 'owner', userId: null, email: null, credential: 'local' } as const;
  try {
    return await callWith(toolsOf(deps.config), askOwn(app, caller))(name, args, signal);
  } finally {
    if (app !== deps.app) await app.close();
  }
}
