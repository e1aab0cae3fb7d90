import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../src/disk/package-root.js';
import { type Copy, copiesOf, filesIn, readIgnore } from './image-files.js';
import { start } from './program.js';
import { temporaryFolder } from './world.js';

const run = promisify(execFile);
const read = (name: string) => readFileSync(join(PACKAGE_ROOT, name), 'utf8');
const isLetIn = readIgnore(read('.dockerignore'));

/** Copies what the COPY instructions of a stage copy from the repository. */
function copyInto(folder: string, copies: readonly Copy[]): void {
  const sources = copies.filter(({ from }) => from === undefined).flatMap((copy) => copy.sources);
  const isCopied = (file: string) =>
    sources.some((source) => file === source || file.startsWith(`${source}/`));
  for (const file of filesIn(PACKAGE_ROOT).filter((one) => isLetIn(one) && isCopied(one))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(PACKAGE_ROOT, file), join(folder, file));
  }
}

/** Starts the service of an image on a new data folder. */
async function addressOf(cli: string): Promise<string> {
  const data = join(temporaryFolder(), 'data');
  const child = start(['--data', data, 'serve', '--port', '0'], { cli, env: { DAYBOOK_BUILD_AT: 'off' } });
  let text = '';
  for await (const chunk of child.stdout?.setEncoding('utf8') ?? []) {
    text += chunk;
    const [, url] = /serves on (http:\S+) from/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The service ended: ${text}`);
}

test('the image has all files that its build needs, and those that the service needs', async () => {
  const [build = [], last = []] = copiesOf(read('Dockerfile'));
  const [made, image] = [temporaryFolder(), temporaryFolder()];
  copyInto(made, build);
  symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(made, 'node_modules'));
  await run('npm', ['run', 'build'], { cwd: made, env: { ...process.env, COMMIT: 'abc' } });
  copyInto(image, last);
  cpSync(join(made, 'dist'), join(image, 'dist'), { recursive: true });
  symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(image, 'node_modules'));
  expect(readdirSync(join(image, 'dist'))).toEqual(
    expect.arrayContaining(['cli.js', 'web', 'collector.tgz']),
  );
  const url = await addressOf(join(image, 'dist', 'cli.js'));
  for (const path of ['healthz', 'readyz', 'collector.tgz', 'docs/', 'openapi.json', '']) {
    const answer = await fetch(new URL(path, `${url}/`));
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
  }
});
