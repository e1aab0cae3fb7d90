import type { ControlsChange } from '../answers.js';
import { type Asked, type ServiceError, sendJson } from '../client.js';

export const CONTROLS = 'api/v0/organization/enterprise-controls';

/** The settings as a text to edit. */
export function textOf(settings: object): string {
  return JSON.stringify(settings, null, 2);
}

/**
 * Saves an organization's settings as the revision after `after`. Fails with 412 if that isn't the newest one, or if another tab of the
 * browser has signed in to another organization.
 */
export function saveSettings(orgId: string, settings: object, after: number): Promise<ControlsChange> {
  return sendJson(
    'PUT',
    CONTROLS,
    { settings },
    {
      'if-match': `"${encodeURIComponent(orgId)}-${after}"`,
    },
  );
}

/**
 * Saves settings in place of those that are shown, and shows what the service made of them. Those that somebody has changed meanwhile are read
 * again, and an error says so. `named` is what they are.
 */
export async function replaceShown<Settings extends { revision: unknown }>(
  shown: Asked<Settings>,
  path: string,
  settings: object,
  named: string,
): Promise<void> {
  try {
    const revision = { 'if-match': `"${shown.answer?.revision}"` };
    shown.take(await sendJson<Settings>('PUT', path, settings, revision));
  } catch (error) {
    shown.again();
    if ((error as ServiceError).status !== 412) throw error;
    throw new Error(`Somebody has changed ${named} meanwhile: they are read again. Then save once more.`);
  }
}
