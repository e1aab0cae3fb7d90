import type { Command } from 'commander';
import { makeFolder } from '../disk/folder.js';
import { VERSION } from '../disk/package-root.js';
import { isServed } from '../socket/control-socket.js';
import { openStore } from '../socket/open-store.js';
import { type Invocation, print } from './program.js';

/** Adds `migrate` to the program. */
export function add(program: Command, { settings, clock }: Invocation): void {
  program
    .command('migrate')
    .description('bring the tables of the store up to date, as a service does when it starts, and end')
    .action(async () => {
      const config = settings();
      makeFolder(config.data);
      const store = await openStore(config, clock, () => isServed(config.data));
      if (store === undefined) {
        print(`The service on ${config.data} brought the store up to date when it started.`);
        return;
      }
      await store.close();
      print(`The store is up to date for Daybook ${VERSION}.`);
    });
}
