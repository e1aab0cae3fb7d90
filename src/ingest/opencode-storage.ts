import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SideFile } from '../store/store.js';

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/**
 * Older versions of opencode wrote a file for each session, message and part:
 *
 *     storage/session/<project>/<session>.json
 *     storage/message/<session>/<message>.json
 *     storage/part/<message>/<part>.json
 *
 * Answers the parts and the session of a message.
 */
export function storageFilesOf(path: string): SideFile[] {
  const found = /^(.*\/storage)\/message\/([^/]+)\/([^/]+)\.json$/.exec(path);
  if (found === null) return [];
  const [, storage = '', session = '', message = ''] = found;
  const parts = join(storage, 'part', message);
  const sessions = join(storage, 'session');
  return [
    ...namesIn(sessions)
      .map((project) => ({ path: join(sessions, project, `${session}.json`), ending: 'session' }))
      .filter((file) => existsSync(file.path)),
    ...namesIn(parts).map((name) => ({ path: join(parts, name), ending: 'part' })),
  ];
}
