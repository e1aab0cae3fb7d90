import type { StoredEvent } from './event.js';
import { counted, groups } from './lists.js';
import { extensionOf, languageOf } from './names.js';
import { lastAgentOf, type Organization, ofType } from './organization.js';

/** One file: a distinct (user, session, path) of the events of one day. */
interface File {
  readonly path: string;
  readonly isCreated: boolean;
  readonly agent: string;
}

export function filesOf(events: readonly StoredEvent[]): File[] {
  const changes = groups(ofType(events, 'file_change'), (event) =>
    JSON.stringify([event.user_id, event.session_id, event.text('path')]),
  );
  return [...changes.values()].map((same) => ({
    path: same[0]?.text('path') ?? '',
    isCreated: same.some((event) => event.text('operation') === 'create'),
    agent: lastAgentOf(same),
  }));
}

/**
 * One name counts once per user; an event without a name counts by itself. Events are those of one day. With an agent, those that
 * count for it.
 */
function distinctNames(events: readonly StoredEvent[], member: string, agent?: string): number {
  const named = groups(events, (event) =>
    event.text(member) === null
      ? JSON.stringify([event.event_id])
      : JSON.stringify([event.user_id, event.text(member)]),
  );
  return [...named.values()].filter((same) => agent === undefined || lastAgentOf(same) === agent).length;
}

/** What was made on one day: by all agents, or by one. */
export function madeBy(events: readonly StoredEvent[], agent?: string) {
  const files = filesOf(events).filter((file) => agent === undefined || file.agent === agent);
  return {
    files_created: files.filter(({ isCreated }) => isCreated).length,
    files_edited: files.filter(({ isCreated }) => !isCreated).length,
    git_commits: distinctNames(ofType(events, 'git_commit'), 'commit_sha', agent),
    git_prs_created: distinctNames(ofType(events, 'pull_request'), 'url', agent),
  };
}

/** The languages of files, most files first, then by name; files of no known language are left out. */
export function languagesOf(events: readonly StoredEvent[], { languages }: Organization) {
  return counted(filesOf(events).flatMap(({ path }) => languageOf(path, languages) ?? []));
}

export function productivity(organization: Organization) {
  return organization.days.map((date) => {
    const events = organization.on(date);
    const { files_created, files_edited, git_commits, git_prs_created } = madeBy(events);
    return {
      date,
      files_created,
      files_edited,
      by_extension: counted(filesOf(events).map(({ path }) => extensionOf(path))).map(({ name, count }) => ({
        extension: name,
        count,
      })),
      by_language: languagesOf(events, organization).map(({ name, count }) => ({ language: name, count })),
      git_commits,
      git_prs_created,
    };
  });
}
