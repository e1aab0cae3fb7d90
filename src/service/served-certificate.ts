import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { messageOf, reasonOf, UsageError } from '../exit.js';
import type { Config } from '../settings/config.js';

/** How often the files are read again. They are small, and a file system may not tell of a change. */
const LOOK_MS = 10_000;

/** The paths of a certificate and its key. */
type Paths = NonNullable<Config['tls']>;

function readPem(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new UsageError(`${name} must be the path of a readable PEM file, which ${path} is not.`);
  }
}

/** Reads a certificate and its key. Throws a UsageError if one can't be read, or if they don't belong together. */
export function readCertificate(paths: Paths): { cert: Buffer; key: Buffer } {
  const pair = {
    cert: readPem(paths.cert, 'DAYBOOK_TLS_CERT'),
    key: readPem(paths.key, 'DAYBOOK_TLS_KEY'),
  };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new UsageError(
      `DAYBOOK_TLS_CERT and DAYBOOK_TLS_KEY must be a certificate and its key as PEM files, which ${paths.cert} and ${paths.key} are not (${reasonOf(error)}).`,
    );
  }
  return pair;
}

/**
 * Has a server serve the files as they are, also after they were replaced, until it is closed. Files that don't belong together, such as
 * a new certificate whose key is still to come, change nothing. Answers what looks at them at once.
 */
export function keepRenewed(server: Server, paths: Paths, log: FastifyBaseLogger): () => void {
  let served = readCertificate(paths);
  server.setSecureContext(served);
  let warned: string | undefined;
  const look = () => {
    try {
      const found = readCertificate(paths);
      warned = undefined;
      if (found.cert.equals(served.cert) && found.key.equals(served.key)) return;
      server.setSecureContext(found);
      served = found;
      log.info('the certificate was renewed');
    } catch (error) {
      if (warned === messageOf(error)) return;
      warned = messageOf(error);
      log.warn(`The certificate that was read before is served on: ${warned}`);
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  server.once('close', () => clearInterval(timer));
  return look;
}
