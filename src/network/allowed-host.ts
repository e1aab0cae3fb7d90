/** Whether requests may go to an address: to the hosts that the operator names, as `hooks.slack.com`, `*.acme.example` or `10.0.0.4:8080`. */
export function isAllowedHost(address: string, hosts: readonly string[]): boolean {
  const { host } = new URL(address);
  return hosts.some((allowed) =>
    allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed,
  );
}
