import { hash } from 'node:crypto';

/** A URL with a host, or of a file, and `git@host:path`, with a path. */
const URL_OR_SSH =
  /^(?:(?:file:\/\/|[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?(?:\[[^\]/@]*\]|[^/:@]+)(?::\d*)?)\/|(?:[^/:@]+@)?(?:\[[^\]/]*\]|[^/:@]+):(?!\/\/)).*[^/]/i;

/** Whether a text is the address of a repository. */
export function isRepositoryUrl(url: string): boolean {
  return URL_OR_SSH.test(url) && !/[\s\p{Cc}]/u.test(url);
}

/** The id of a repository, given its key (sql/function/repo_key.sql): `repo_` and the first 16 hexadecimal digits of the key's SHA-256. */
export function repoIdOf(key: string): string {
  return `repo_${hash('sha256', key).slice(0, 16)}`;
}
