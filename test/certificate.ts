import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Makes a certificate that nobody trusts, for names such as `IP:127.0.0.1` or `DNS:localhost`, and its key. Answers both files. */
export function certificateFor(names: string, folder: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', [...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}
