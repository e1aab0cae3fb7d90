/** Error codes of certificate chains without an authority that this process trusts. */
const UNTRUSTED = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired: renew it',
  CERT_NOT_YET_VALID: 'is not valid yet: compare the clocks of both machines',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host: use a host name that is in the certificate',
};

/**
 * The end of a sentence about the server that says why its TLS certificate was refused and what to do about it; undefined if a
 * connection failed for another reason. Libraries hide the reason among the causes of their errors.
 */
export function certificateFaultOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? String(cause.code) : '';
    const fault = UNTRUSTED.has(code)
      ? 'is not trusted: set NODE_EXTRA_CA_CERTS to a PEM file of its authority, or of the certificate itself if it is self-signed'
      : FAULTS[code];
    if (fault !== undefined) return `its TLS certificate (${code}) ${fault}`;
  }
  return undefined;
}
