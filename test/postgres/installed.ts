import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian has the programs of each version. */
const VERSIONS = '/usr/lib/postgresql';

/** The folder of the newest PostgreSQL that is installed; undefined if there is none. */
export function programs(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const newest = readdirSync(VERSIONS)
    .filter((version) => existsSync(join(VERSIONS, version, 'bin', 'initdb')))
    .sort((one, other) => Number(other) - Number(one))[0];
  return newest === undefined ? undefined : join(VERSIONS, newest, 'bin');
}

/** Whether there is a server, or one that can be started. */
export function hasPostgres(): boolean {
  return process.env.TEST_POSTGRES !== undefined || programs() !== undefined;
}
