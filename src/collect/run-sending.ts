import { UsageError } from '../exit.js';
import { BodySender } from './body-sender.js';
import { BodySpool } from './body-spool.js';
import { type Connection, targetOf } from './collect-folder.js';
import { asked } from './collector.js';
import { EventService, Later } from './event-service.js';

/** How the events of a run were sent. */
export interface RunSent {
  /** How many events the service has. */
  readonly sent: number;
  /** Why it doesn't have all of them; undefined if it has. */
  readonly problem: string | undefined;
}

/** Sends events in the name of the key's user, and tries for `waitMs` if the service can't take them. `folder` is for temporary files. */
export async function sendRun(
  lines: readonly string[],
  connection: Connection,
  {
    folder,
    waitMs,
    clock,
    say,
  }: { folder: string; waitMs: number; clock: () => number; say: (s: string) => void },
): Promise<RunSent> {
  const service = new EventService(connection, clock);
  const spool = new BodySpool(folder, clock);
  const sender = new BodySender(spool, service, clock, 0, () => {});
  try {
    const { userId } = await targetOf(folder, connection, () =>
      asked(service, { clock, waitMs, everyMs: undefined, say }),
    );
    await spool.keep(lines.map((line) => JSON.stringify({ ...JSON.parse(line), user_id: userId })));
    await sender.sendUntil(clock() + waitMs, (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    return { sent: sender.sent, problem: sender.problem };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof Later)) throw error;
    return { sent: sender.sent, problem: error.message.replace(/\.?$/, '.') };
  } finally {
    service.close();
  }
}
