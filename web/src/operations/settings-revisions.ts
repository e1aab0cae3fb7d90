import type { ControlsChange } from '../answers.js';
import { sendJson } from '../client.js';

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
