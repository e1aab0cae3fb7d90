import type { ControlsChange } from '../answers.js';
import { sendJson } from '../client.js';

export const CONTROLS = 'api/v0/organization/enterprise-controls';

/** The settings as a text that a person changes. */
export function textOf(settings: object): string {
  return JSON.stringify(settings, null, 2);
}

/** Saves settings as the revision after another. Fails with 412 where that isn't the newest. */
export function saveSettings(settings: object, after: number): Promise<ControlsChange> {
  return sendJson('PUT', CONTROLS, { settings }, { 'if-match': `"${after}"` });
}
