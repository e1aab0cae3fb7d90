import { hash } from 'node:crypto';

/** Host and path of a repository's address, a URL or `git@host:path`; undefined for any other text. */
function parse(url: string): { host: string; path: string } | undefined {
  const [, scheme, host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:[^/]*@)?(\[[^\]/@]*\]|[^/:@]*)(?::\d*)?\/(.*)$/i.exec(url) ??
    /^()(?:[^/:@]+@)?(\[[^\]/]*\]|[^/:@]+):(?!\/\/)(.*)$/.exec(url) ??
    [];
  const isPlace = host !== '' || scheme?.toLowerCase() === 'file';
  if (scheme === undefined || !isPlace || !/[^/]/.test(path)) return undefined;
  return { host: host.toLowerCase(), path };
}

/** Whether a text is the address of a repository. */
export function isRepositoryUrl(url: string): boolean {
  return parse(url) !== undefined && !/[\s\p{Cc}]/u.test(url);
}

/**
 * The normalized address of a repository, such as `github.com/acme/api`, however it is reached: without scheme, user, port, and a slash or
 * `.git` at the end, with the host in lower case.
 */
export function normalizedUrl(url: string): string {
  const { host, path } = parse(url) ?? { host: '', path: url };
  return `${host}/${path
    .replace(/^\/+/, '')
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/(?<!\/)\/+$/, '')}`;
}

/** The id of a repository: `repo_` and the first 16 hexadecimal digits of the SHA-256 of its normalized address. */
export function repoIdOf(url: string): string {
  return `repo_${hash('sha256', normalizedUrl(url)).slice(0, 16)}`;
}
