// Installs the ClickHouse that tests run in their own process, unless it exists: 540 MB that no user of Daybook needs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../test/clickhouse/', import.meta.url));
const lock = readFileSync(`${folder}package-lock.json`, 'utf8');
const installed = `${folder}node_modules/installed.json`;

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  const isWindows = process.platform === 'win32';
  const install = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    shell: isWindows,
  });
  // On a platform without a build, npm installs nothing and reports no failure, so check that it loads.
  const loads = spawnSync(process.execPath, ['-e', "require('chdb/connection')"], { cwd: folder });
  if (install.status === 0 && loads.status === 0) {
    writeFileSync(installed, lock);
  } else {
    rmSync(`${folder}node_modules`, { recursive: true, force: true });
    const [, reason] = /^npm (?:error|ERR!) (.+)$/m.exec(install.stderr ?? '') ?? [
      '',
      'it does not load here',
    ];
    process.stdout.write(`The tests on ClickHouse are skipped: chdb can't be installed (${reason}).\n`);
  }
}
