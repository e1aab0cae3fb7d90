import { mkdirSync } from 'node:fs';
import { isOutOfRoom, StoreUnavailable } from '../store/store-fault.js';
import type { EventMapper, Mapped } from './event-mapper.js';

/** Opens a mapper. Loads the engine only here, because a round without new events doesn't need it. */
async function openMapper(folder: string): Promise<EventMapper> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { EventMapper } = await import('./event-mapper.js');
  return EventMapper.open(folder);
}

/** Maps files with an engine that is opened on first use. After a failure it opens a new one, since the old one may no longer work. */
export class SteadyMapper {
  private mapper: EventMapper | undefined;

  constructor(
    private readonly folder: string,
    private readonly open: (folder: string) => Promise<EventMapper> = openMapper,
  ) {}

  /** Maps as EventMapper does. Throws the errors of a freshly opened engine, and StoreUnavailable if none can be opened. */
  async map(...files: Parameters<EventMapper['map']>): Promise<Mapped> {
    const isFresh = this.mapper === undefined;
    this.mapper ??= await this.open(this.folder).catch((cause: unknown) => {
      throw isOutOfRoom(cause) ? cause : new StoreUnavailable(undefined, { cause });
    });
    try {
      return await this.mapper.map(...files);
    } catch (error) {
      this.close();
      if (isFresh) throw error;
      return this.map(...files);
    }
  }

  close(): void {
    this.mapper?.close();
    this.mapper = undefined;
  }
}
