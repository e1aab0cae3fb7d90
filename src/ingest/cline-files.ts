import { basename, dirname, join } from 'node:path';
import type { SideFile } from '../store/store.js';

/**
 * The files beside the messages of Cline and Roo Code. The CLI has a folder for each session, with the messages of its sub-agents:
 *
 *     sessions/<session>/<session>.messages.json
 *     sessions/<session>/<agent>.messages.json
 *     sessions/<session>/<session>.json
 *
 * The extensions have one for each task. Only the files beside its messages name the model:
 *
 *     tasks/<task>/ui_messages.json
 *     tasks/<task>/task_metadata.json
 *     tasks/<task>/api_conversation_history.json
 */
export function filesBesideMessages(path: string): SideFile[] {
  const folder = dirname(path);
  return basename(path).startsWith('ui_messages.json')
    ? [
        { path: join(folder, 'task_metadata.json'), ending: 'metadata' },
        { path: join(folder, 'api_conversation_history.json'), ending: 'history' },
      ]
    : [{ path: join(folder, `${basename(folder)}.json`), ending: 'session' }];
}

/** Where the extensions keep their tasks: on Linux, on macOS and on a machine that VS Code works on from afar. */
export const EXTENSION_FOLDERS: readonly string[] = [
  '~/.config/Code/User',
  '~/Library/Application Support/Code/User',
  '~/.vscode-server/data/User',
].flatMap((user) =>
  ['saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline'].map(
    (extension) => `${user}/globalStorage/${extension}/tasks`,
  ),
);
