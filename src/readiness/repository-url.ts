import { hash } from 'node:crypto';

interface Address {
  readonly scheme: string;
  readonly user: string;
  readonly host: string;
  readonly path: string;
}

/** The parts of a repository's address, as a URL or as `git@host:path`; undefined for a text that is neither. */
function parse(url: string): Address | undefined {
  const [, scheme, user = '', host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:([^/]*)@)?(\[[^\]/]*\]|[^/:@]*)(?::\d*)?\/(.*)$/i.exec(url) ??
    /^()(?:([^/:@]+)@)?(\[[^\]/]*\]|[^/:@]+):(?!\/\/)(.*)$/.exec(url) ??
    [];
  const isPlace = host !== '' || scheme?.toLowerCase() === 'file';
  if (scheme === undefined || !isPlace || !/[^/]/.test(path)) return undefined;
  return { scheme: scheme.toLowerCase(), user, host: host.toLowerCase(), path };
}

/** Whether a text is the address of a repository. */
export function isRepositoryUrl(url: string): boolean {
  return parse(url) !== undefined && !/[\s\p{Cc}]/u.test(url);
}

/**
 * What names a repository however it is reached, as `github.com/acme/api`: its address without scheme, user, port, and a
 * slash or `.git` at its end, the host in lower case (decisions.md, Readiness).
 */
export function normalizedUrl(url: string): string {
  const { host, path } = parse(url) ?? { host: '', path: url };
  return `${host}/${path
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/\/+$/, '')}`;
}

/** The id of a repository: `repo_` and the first 16 hexadecimal digits of the SHA-256 of its normalized address. */
export function repoIdOf(url: string): string {
  return `repo_${hash('sha256', normalizedUrl(url)).slice(0, 16)}`;
}
