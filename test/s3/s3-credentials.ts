import type { AtEnd } from '../world.js';

/** Credentials for a server that believes any, until the end. */
export function withCredentials(atEnd: AtEnd): void {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) {
    const before = process.env[name];
    process.env[name] = 'S3RVER';
    atEnd(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}
