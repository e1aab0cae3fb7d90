import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../disk/package-root.js';
import { UsageError } from '../exit.js';
import type { SourceSql } from '../store/store.js';
import { writeChat } from './chat-log.js';
import { EXTENSION_FOLDERS, filesBesideMessages } from './cline-files.js';
import { storageFilesOf } from './opencode-storage.js';

/** A kind of file that events come from. docs/sources.md says how to add one. */
export interface Source extends SourceSql {
  /** The content of its files, for people. */
  readonly title: string;
  /** The files of a folder that are read, by their paths without .gz and .zst. */
  readonly files: RegExp;
  /** Folders below those that are never looked into, by their paths. */
  readonly skippedFolders?: RegExp;
  /** The folders that are read where none is named, as `${VARIABLE:-~/folder}/more`. A variable can have several, with commas between. */
  readonly folders: readonly string[];
  /**
   * The other files that its SQL needs to map the lines of a file, without .gz and .zst: the path of a file, or of a folder whose files
   * are meant. Only for SQL that joins lines of several files.
   */
  readonly context?: (path: string) => readonly string[];
  /** Whether its lines say whose they are. Otherwise --user does. */
  readonly namesUsers: boolean;
  /** Whether its lines say of which repository they are. Otherwise the checkout in `cwd` does, where it is on this machine. */
  readonly namesRepos: boolean;
}

/** Where VS Code, its preview and VSCodium keep chats: on Linux, macOS and Windows, and on a machine that they work on from afar. */
const CHAT_FOLDERS: readonly string[] = [
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as a shell has it
  ...[
    '${XDG_CONFIG_HOME:-~/.config}',
    '~/Library/Application Support',
    '${APPDATA:-~/AppData/Roaming}',
  ].flatMap((folder) =>
    ['Code', 'Code - Insiders', 'VSCodium'].map((program) => `${folder}/${program}/User`),
  ),
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as a shell has it
  '~/.vscode-server/data/User',
  '~/.vscode-server-insiders/data/User',
].flatMap((user) =>
  ['workspaceStorage', 'globalStorage/emptyWindowChatSessions', 'globalStorage/transferredChatSessions'].map(
    (folder) => `${user}/${folder}`,
  ),
);

const folderOf = (name: string) => join(PACKAGE_ROOT, 'sql', 'source', name);

export const CANONICAL: Source = {
  name: 'canonical',
  title: 'events',
  sql: folderOf('canonical'),
  files: /\.(ndjson|jsonl|json)$/,
  folders: [],
  unit: 'line',
  limitMb: 1,
  fileGb: 64,
  keepsText: true,
  namesUsers: true,
  namesRepos: true,
};

export const CLAUDE_CODE: Source = {
  name: 'claude-code',
  title: 'Claude Code transcripts',
  sql: folderOf('claude-code'),
  // Beside the transcripts of the desktop app are copies of them with other members.
  files: /^(?!.*\/local-agent-mode-sessions\/(?!.*\/projects\/)).*(?<!\/audit)\.jsonl$/,
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: [
    '${CLAUDE_CONFIG_DIR:-~/.claude,~/.config/claude}/projects',
    '~/Library/Application Support/Claude/local-agent-mode-sessions',
    '${XDG_CONFIG_HOME:-~/.config}/Claude/local-agent-mode-sessions',
    '${APPDATA:-~/AppData/Roaming}/Claude/local-agent-mode-sessions',
  ],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as a shell has it
  unit: 'line',
  // The totals at the end of a run have no time but that of the lines before them.
  isOrdered: true,
  limitMb: 64,
  // A sub-agent has the permission mode of its session, which stands in the session's file.
  context: (path) =>
    path.includes('/subagents/')
      ? [path.replace(/\/subagents\/.*/, '.jsonl')]
      : [path.replace(/\.jsonl(\.gz|\.zst)?$/, '/subagents')],
  namesUsers: false,
  namesRepos: false,
};

export const CODEX: Source = {
  name: 'codex',
  title: 'Codex rollouts',
  sql: folderOf('codex'),
  files: /\.jsonl$/,
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${CODEX_HOME:-~/.codex}/sessions', '${CODEX_HOME:-~/.codex}/archived_sessions'],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as a shell has it
  unit: 'line',
  isOrdered: true,
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const GEMINI_CLI: Source = {
  name: 'gemini-cli',
  title: 'Gemini CLI chats',
  sql: folderOf('gemini-cli'),
  // Beside the folders of chats are other files of the program.
  files: /^(?=.*\/chats\/|(?!.*\/\.gemini\/)).*\.jsonl?$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${GEMINI_CLI_HOME:-~}/.gemini/tmp'],
  unit: 'line',
  documents: /\.json$/,
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const OPENCODE: Source = {
  name: 'opencode',
  title: 'opencode sessions',
  sql: folderOf('opencode'),
  // The database, or the messages of older versions, or exports. Other JSON files of opencode have credentials and lists.
  files: /\/(opencode(-[^/]+)?\.db|storage\/message\/[^/]+\/[^/]+\.json|ses_\w+\.json$(?<!\/storage\/.*))$/,
  skippedFolders: /\/opencode\/(bin|log|repos|snapshot|tool-output|worktree)$/,
  databases: /\.db$/,
  sideFiles: storageFilesOf,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${XDG_DATA_HOME:-~/.local/share}/opencode'],
  unit: 'document',
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const KILO: Source = {
  name: 'kilo',
  title: 'Kilo Code sessions',
  // Its tables are opencode's.
  sql: OPENCODE.sql,
  files: /\/kilo(-[^/]+)?\.db$/,
  skippedFolders: /\/kilo\/(bin|log|repos|snapshot|storage|tool-output|worktree)$/,
  databases: /\.db$/,
  sideFiles: [],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${XDG_DATA_HOME:-~/.local/share}/kilo'],
  unit: 'document',
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const DROID: Source = {
  name: 'droid',
  title: 'Droid sessions',
  sql: folderOf('droid'),
  files: /\.jsonl$/,
  folders: ['~/.factory/sessions'],
  unit: 'line',
  sideFiles: ['.settings.json'],
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const COPILOT_CLI: Source = {
  name: 'copilot-cli',
  title: 'Copilot CLI sessions',
  sql: folderOf('copilot-cli'),
  // A session was a file before it was a folder.
  files: /\/(events|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${COPILOT_HOME:-~/.copilot}/session-state'],
  unit: 'line',
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const COPILOT_CHAT: Source = {
  name: 'copilot-chat',
  title: 'chats of Copilot in VS Code',
  sql: folderOf('copilot-chat'),
  files: /\/(chatSessions|(emptyWindow|transferred)ChatSessions)\/[^/]+\.jsonl?$/,
  skippedFolders: /\/workspaceStorage\/[^/]+\/(?!chatSessions$)[^/]+$/,
  replay: writeChat,
  sideFiles: (path) => [{ path: join(dirname(dirname(path)), 'workspace.json'), ending: 'workspace' }],
  folders: CHAT_FOLDERS,
  unit: 'document',
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const QWEN_CODE: Source = {
  name: 'qwen-code',
  title: 'Qwen Code chats',
  sql: folderOf('qwen-code'),
  files: /\.jsonl$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${QWEN_RUNTIME_DIR:-~/.qwen}/projects'],
  unit: 'line',
  limitMb: 64,
  sideFiles: ['.meta.json'],
  // The ids of a sub-agent's calls stand in the file of its session.
  context: (path) =>
    path.includes('/subagents/')
      ? [dirname(path), path.replace(/\/subagents\/([^/]+)\/[^/]+$/, '/chats/$1.jsonl')]
      : [path.replace(/\/chats\/([^/]+)\.jsonl(\.gz|\.zst)?$/, '/subagents/$1')],
  namesUsers: false,
  namesRepos: false,
};

export const PI: Source = {
  name: 'pi',
  title: 'Pi and OMP sessions',
  sql: folderOf('pi'),
  files: /\.jsonl$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions', '~/.omp/agent/sessions'],
  unit: 'line',
  // The model of a line is the one that was chosen before it.
  isOrdered: true,
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const OPENCLAW: Source = {
  name: 'openclaw',
  title: 'OpenClaw sessions',
  // Its lines are Pi's.
  sql: PI.sql,
  files: /\/openclaw-agent\.sqlite$/,
  databases: /\.sqlite$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${OPENCLAW_STATE_DIR:-~/.openclaw}/agents'],
  unit: 'line',
  isOrdered: true,
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

export const CLINE: Source = {
  name: 'cline',
  title: 'Cline sessions',
  sql: folderOf('cline'),
  files: /(\.messages|\/ui_messages)\.json$/,
  sideFiles: filesBesideMessages,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${CLINE_DATA_DIR:-~/.cline/data}/sessions', ...EXTENSION_FOLDERS],
  unit: 'document',
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

/** Lines that were checked when they were received, as body-check.ts writes them. */
export const CHECKED: SourceSql = { ...CANONICAL, sql: folderOf('checked'), isChecked: true };

/** Payloads of agents' hooks, without their words. */
export const HOOKS: SourceSql = { name: 'hooks', sql: folderOf('hooks'), unit: 'request', limitMb: 1 };

/** Records of OTLP, as far as the allow-list lets them through. */
export const OTLP: SourceSql = { name: 'otlp', sql: folderOf('otlp'), unit: 'request', limitMb: 4 };

/** The traces of Copilot in Visual Studio: requests of OTLP in files. */
export const VS_COPILOT: Source = {
  name: 'vs-copilot',
  title: 'traces of Copilot in Visual Studio',
  sql: folderOf('vs-copilot'),
  views: [join(OTLP.sql, 'gen_ai.sql')],
  files: /_VSGitHubCopilot_traces\.jsonl$/,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell has it
  folders: ['${LOCALAPPDATA:-~/AppData/Local}/Temp/VSGitHubCopilotLogs/traces'],
  unit: 'line',
  isOrdered: true,
  limitMb: 64,
  namesUsers: false,
  namesRepos: false,
};

/** All sources of files, as help shows them. */
export const SOURCES: readonly Source[] = [
  CANONICAL,
  CLAUDE_CODE,
  CODEX,
  GEMINI_CLI,
  OPENCODE,
  KILO,
  DROID,
  COPILOT_CLI,
  COPILOT_CHAT,
  QWEN_CODE,
  CLINE,
  PI,
  OPENCLAW,
  VS_COPILOT,
];

/** The source of a name. Throws a UsageError for one that doesn't exist. */
export function sourceOf(name: string): Source {
  const source = SOURCES.find((one) => one.name === name);
  if (source !== undefined) return source;
  throw new UsageError(
    `--source must be one of ${SOURCES.map((one) => one.name).join(', ')}, not "${name}".`,
  );
}
