import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A pattern of .dockerignore as a regular expression, read as Docker reads it. */
function toRegExp(pattern: string): RegExp {
  const parts = pattern.match(/\*\*\/?$|\*\*\/?|\*|\?|[^*?]+/g) ?? [];
  const source = parts.map((part, index) => {
    if (part.startsWith('**')) return index === parts.length - 1 ? '.*' : '(.*/)?';
    if (part === '*') return '[^/]*';
    return part === '?' ? '[^/]' : part.replace(/[.+^$()|{}[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`);
}

/** What tells whether a file goes into the image: the last pattern that matches it or a folder that it is in decides. */
export function readIgnore(text: string): (path: string) => boolean {
  const patterns = text
    .split('\n')
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .map((line) => {
      const pattern = line.trim();
      const lets = pattern.startsWith('!');
      return { lets, regExp: toRegExp(posix.normalize(pattern.slice(lets ? 1 : 0)).replace(/^\/|\/$/g, '')) };
    });
  return (path) => {
    const parts = path.split('/');
    const chain = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const last = patterns.findLast(({ regExp }) => chain.some((one) => regExp.test(one)));
    return last?.lets ?? true;
  };
}

/** The files that are in the working folder, without those of packages and git. */
export function filesIn(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(below, entry.name);
    if (!entry.isDirectory()) return [path];
    return ['node_modules', '.git', 'dist'].includes(entry.name) ? [] : filesIn(folder, path);
  });
}

export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
}

/** The COPY instructions of the stages of a Dockerfile. */
export function copiesOf(text: string): Copy[][] {
  const stages: Copy[][] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const [instruction, ...words] = line.trim().split(/\s+/);
    if (instruction === 'FROM') stages.push([]);
    if (instruction !== 'COPY' && instruction !== 'ADD') continue;
    const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
    stages.at(-1)?.push({ from, sources: words.filter((word) => !word.startsWith('--')).slice(0, -1) });
  }
  return stages;
}
