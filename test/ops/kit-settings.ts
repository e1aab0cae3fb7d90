import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/disk/package-root.js';
import { messageOf } from '../../src/exit.js';
import { type Config, readConfig } from '../../src/settings/config.js';
import { does } from '../../src/settings/setting-list.js';

export type Variables = Readonly<Record<string, string>>;

const read = (name: string) => readFileSync(join(PACKAGE_ROOT, name), 'utf8');

const configOf = (variables: Variables): Config =>
  readConfig(Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith('DAYBOOK_'))));

/** Whether a service with these variables would start. Answers the faults as sentences. */
export function faultsOfSettings(variables: Variables): string[] {
  try {
    configOf(variables);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** The facts of the image that kits rely on. */
export function readImage() {
  const text = read('Dockerfile');
  const one = (pattern: RegExp) => pattern.exec(text)?.slice(1) ?? [];
  const [user = '', group = ''] = one(/^USER (\d+):(\d+)$/m);
  const [data = ''] = one(/^VOLUME (.+)$/m);
  const [port = ''] = one(/^EXPOSE (\d+)$/m);
  const [health = '[]'] = one(/^HEALTHCHECK CMD (\[.+\])$/m);
  const { version } = JSON.parse(read('package.json')) as { version: string };
  return { user, group, data, port, version, health: JSON.parse(health) as string[] };
}

/** How long a stop can take: a request, and the twenty seconds that a build may take beyond it. */
export const stopSeconds = () => readConfig({}).timeoutSeconds + 20;

/** The settings, or the defaults if a setting is wrong, which is a fault of its own. */
const validConfigOf = (variables: Variables) =>
  faultsOfSettings(variables).length > 0 ? readConfig({}) : configOf(variables);

/** The MiB of memory that a node of a role with these variables may take: the database's, its queries', and half a GiB of its own. */
export function memoryOf(variables: Variables): number {
  const { role, memoryMb, sql } = validConfigOf(variables);
  return memoryMb + (does(role, 'api') ? sql.queries * sql.memoryMb : 0) + 512;
}

/** The MiB of disk that a node with these variables may take, in its data folder: the files of the lake, and a GiB for all else. */
export function diskOf(variables: Variables): number {
  const { role, lakeCacheMb } = validConfigOf(variables);
  return (role === 'ingest' ? 0 : lakeCacheMb) + 1024;
}

/** `64m`, `4g`, `512Mi` or `10Gi` in MiB. */
export function mebibytes(text: string): number {
  const [, number, unit] = /^(\d+)([mg])i?$/i.exec(text) ?? [];
  return Number(number) * (unit?.toLowerCase() === 'g' ? 1024 : 1);
}

/** What is wrong with a command of the image, by docs/commands.md. */
export function faultsOfCommand(words: readonly string[]): string[] {
  const [name = '', ...options] = words;
  const section = new RegExp(`^## daybook ${name}\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(
    read('docs/commands.md'),
  )?.[1];
  if (section === undefined) return [`There is no command ${name}.`];
  return options
    .filter((option) => option.startsWith('--') && !section.includes(option))
    .map((option) => `The command ${name} has no option ${option}.`);
}

/** What is wrong with the tag of an image: it has to name one release. */
export function faultsOfTag(image: string): string[] {
  const tag = /:([^:/@]+)(@sha256:[0-9a-f]{64})?$/.exec(image)?.[1] ?? '';
  return /^\d+\.\d+/.test(tag) ? [] : [`The image ${image} isn't pinned to a release.`];
}

let paths: string[] | undefined;

/** The paths that the service has, as docs/openapi.json lists them. */
export function servedPaths(): readonly string[] {
  paths ??= Object.keys((JSON.parse(read('docs/openapi.json')) as { paths: object }).paths);
  return paths;
}
