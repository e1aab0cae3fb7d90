import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../ask.js';
import { addressOf, isUp, ownedFolder, owner, postgresDatabase } from './server.js';

const PROGRAM = '/usr/sbin/pgbouncer';

export function hasBouncer(): boolean {
  return existsSync(PROGRAM);
}

/** The address of an empty database behind pgbouncer, which gives each transaction any of two connections. */
export async function bouncedDatabase(atEnd: (undo: () => Promise<void>) => void): Promise<string> {
  const { host, port, user, password, database } = addressOf(await postgresDatabase(atEnd));
  const folder = ownedFolder();
  const own = await freePort();
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${user}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(
    settings,
    `[databases]
${database} = host=${host} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 2
server_reset_query_always = 0
`,
    { mode: 0o644 },
  );
  const child = spawn(PROGRAM, [settings], { ...owner(), stdio: ['ignore', 'ignore', 'pipe'] });
  atEnd(async () => {
    child.kill('SIGKILL');
  });
  const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${own}/${database}`;
  await isUp(url, child);
  return url;
}
