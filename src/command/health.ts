import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Command } from 'commander';
import type { Config } from '../settings/config.js';
import { settingsOfService } from '../socket/call.js';
import { localUrl } from './local-url.js';
import { type Invocation, print } from './program.js';

const ANSWERS_WITHIN_MS = 5000;

/** Adds `health` to the program. */
export function add(program: Command, { settings }: Invocation): void {
  program
    .command('health')
    .description("ask the service on this machine whether it is alive; exits with 1 if it isn't")
    .action(async () => {
      const url = await checkHealth(await settingsOfService(settings()));
      print(`The service at ${url} is alive.`);
    });
}

/**
 * Asks the service with these settings on this machine whether it is alive, and answers its address. Throws if it isn't. The
 * certificate isn't checked, because it is for the names that other machines use.
 */
export async function checkHealth(config: Pick<Config, 'host' | 'port' | 'tls'>): Promise<string> {
  const url = localUrl(config);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const fail = (error: NodeJS.ErrnoException) => {
      const reason = signal.aborted ? `no answer within ${ANSWERS_WITHIN_MS / 1000} s` : error.code;
      reject(
        new Error(
          `the service at ${url} is not healthy (${reason}): start it, or correct DAYBOOK_HOST and DAYBOOK_PORT.`,
        ),
      );
    };
    const asked =
      config.tls === undefined
        ? requestHttp(`${url}/healthz`, { signal })
        : requestHttps(`${url}/healthz`, { signal, rejectUnauthorized: false });
    asked.on('response', (answer) => {
      answer.destroy();
      resolve(answer.statusCode);
    });
    asked.on('error', fail);
    asked.end();
  });
  if (status !== 200) throw new Error(`the service at ${url} is not healthy: it answers ${status}.`);
  return url;
}
