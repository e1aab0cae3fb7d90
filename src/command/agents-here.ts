import { foldersHere, type InputFile, inputFiles } from '../ingest/input-files.js';
import { SOURCES, type Source } from '../ingest/source.js';

/** The sources of agents, as opposed to Daybook's own events. */
export const AGENTS = SOURCES.filter(({ namesUsers }) => !namesUsers);

/** An agent, and the files that this machine has of it. */
export interface AgentHere {
  readonly source: Source;
  /** Its folders that exist here. */
  readonly folders: readonly string[];
  readonly files: readonly InputFile[];
  /** A sentence for each file or folder that was left out. */
  readonly leftOut: readonly string[];
}

/** The files of every agent on this machine, where the agents keep them. */
export function agentsHere(): AgentHere[] {
  return AGENTS.map((source) => {
    const folders = foldersHere(source);
    const leftOut = new Set<string>();
    const files = inputFiles(folders, source, ({ message }) => leftOut.add(message));
    return { source, folders, files, leftOut: [...leftOut] };
  });
}

/** Files as a command of `src/socket` takes them. */
export function filesOf(files: readonly InputFile[]) {
  return files.map(({ path, size, state }) => ({ path, size, ...(state === undefined ? {} : { state }) }));
}
