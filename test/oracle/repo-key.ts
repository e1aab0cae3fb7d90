/** Hosts that ignore the case of a path. */
const IGNORE_CASE = ['github.com', 'gitlab.com', 'bitbucket.org', 'dev.azure.com'];

/** The host of an address and what follows it; undefined for another name. */
function splitName(name: string): [host: string, path: string] | undefined {
  const [, address] = name.split('://');
  if (address !== undefined) {
    const slash = address.indexOf('/');
    return [address.slice(0, slash).replace(/:\d+$/, ''), address.slice(slash + 1)];
  }
  const end = name.search(/[:/]/);
  const isHost = name[end] === ':' ? end > 1 : name.slice(0, end).includes('.');
  return end > 0 && isHost ? [name.slice(0, end), name.slice(end + 1)] : undefined;
}

/** The steps of a path in Azure DevOps, as organization, project and repository. */
function azureSteps(steps: readonly string[]): string[] {
  const [organization = '', ...others] = steps.filter((step) => step !== '_git' && step !== 'v3');
  return [organization, ...(others.length === 1 ? [...others, ...others] : others)];
}

/** The key of a repository, one for every spelling of its address. */
export function repoKey(name: string): string {
  const [user, path] = splitName(name) ?? [];
  if (user === undefined || path === undefined) return name;
  const named = user.slice(user.lastIndexOf('@') + 1).toLowerCase();
  const host = named === 'ssh.dev.azure.com' ? 'dev.azure.com' : named;
  const ignored = IGNORE_CASE.includes(host) ? path.toLowerCase().replaceAll('%20', ' ') : path;
  const steps = ignored.split('/').filter((step) => step !== '');
  const own = host === 'dev.azure.com' ? azureSteps(steps) : steps;
  return [host, ...own].join('/').replace(/\.git$/, '');
}
