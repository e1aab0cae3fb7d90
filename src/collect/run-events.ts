import { z } from 'zod';
import { isWithin, realPathOf } from '../ingest/linked-folder.js';
import { SOURCES } from '../ingest/source.js';
import { collectRound, filesHere } from './collect-round.js';
import { SentFiles } from './sent-files.js';

/** The events of one run of a command. */
export interface RunEvents {
  /** Events as they are sent. */
  readonly lines: readonly string[];
  /** The folders of sessions that were left out because they aren't in the folder of the run. */
  readonly elsewhere: readonly string[];
  /** A sentence for each file or folder that could be read before the run, and was left out after it. */
  readonly leftOut: readonly string[];
}

/** The members of an event that say whether it belongs to a run. */
const Placed = z.object({
  timestamp: z.number(),
  session_id: z.string(),
  agent: z.string().optional(),
  cwd: z.string().optional(),
});

/** The files of all agents on this machine as they were before a run, to tell from them what a run has written. */
export class RunFiles {
  private constructor(
    private readonly folder: string,
    private readonly files: SentFiles,
    private readonly leftOut: ReadonlySet<string>,
    /** Unix milliseconds. */
    readonly startedAt: number,
    private readonly clock: () => number,
  ) {}

  /** Looks at all files. The run begins now. `folder` is for temporary files. */
  static look(folder: string, clock: () => number): RunFiles {
    const files = new SentFiles(folder);
    const leftOut = new Set<string>();
    const lookedAt = clock();
    for (const source of SOURCES)
      files.know(
        source,
        filesHere(source, ({ message }) => leftOut.add(message)),
        lookedAt,
      );
    return new RunFiles(folder, files, leftOut, clock(), clock);
  }

  /**
   * The events since the run began in files that have changed, of sessions in a folder or below it. A session whose agent doesn't say where
   * it works counts as well. Without a folder, all do.
   */
  async events(userId: string, runFolder: string | undefined): Promise<RunEvents> {
    const sessions = new Map<string, RunSession>();
    const keep = async (lines: readonly string[]) => {
      for (const line of lines) {
        const { timestamp, session_id, agent, cwd } = Placed.parse(JSON.parse(line));
        const key = JSON.stringify([agent, session_id]);
        const session = sessions.get(key) ?? { lines: [], cwd: undefined, movedAt: 0 };
        sessions.set(key, session);
        if (timestamp >= this.startedAt) session.lines.push(line);
        // A session can move. Where it was last is where the run has it.
        if (cwd === undefined || timestamp < session.movedAt) continue;
        session.cwd = cwd;
        session.movedAt = timestamp;
      }
    };
    const { leftOut } = await collectRound({
      target: { folder: this.folder, userId },
      files: this.files,
      spool: { bytes: 0, keep },
      spoolBytes: Number.POSITIVE_INFINITY,
      sender: { send: async () => true },
      clock: this.clock,
      drain: async () => true,
      touch: () => {},
    });
    const found = [...sessions.values()].filter(({ lines }) => lines.length > 0);
    const isHere = ({ cwd }: RunSession) =>
      runFolder === undefined || cwd === undefined || isWithin(real(cwd), real(runFolder));
    return {
      lines: found.filter(isHere).flatMap(({ lines }) => lines),
      elsewhere: [...new Set(found.filter((one) => !isHere(one)).map(({ cwd = '' }) => cwd))],
      leftOut: [...leftOut].filter((sentence) => !this.leftOut.has(sentence)),
    };
  }
}

/** A session in the files that have changed. */
interface RunSession {
  /** Its events since the run began. */
  readonly lines: string[];
  /** The folder in which it was last, and since when, if its agent says so. */
  cwd: string | undefined;
  movedAt: number;
}

function real(folder: string): string {
  return realPathOf(folder) ?? folder;
}
