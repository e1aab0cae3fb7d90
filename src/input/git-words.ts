/** How many characters of a shell line are searched. */
const SEARCHED_CHARACTERS = 1 << 16;

/** The words that decide whether commands commit or open a pull request, or only show what is written elsewhere. */
const PROGRAMS = new Set([
  ...['git', 'gh', 'glab', 'lab', 'az', 'tea', 'hub', 'gt'],
  ...['env', 'command', 'builtin', 'exec', 'eval', 'time', 'nice', 'nohup', 'sudo', 'doas', 'timeout'],
  ...['gtimeout', 'stdbuf', 'setsid', 'ionice', 'caffeinate', 'xargs', 'winpty', 'wsl', 'rtk', 'cmd'],
  ...['powershell', 'pwsh', 'op', 'doppler', 'mise', 'nix', 'devbox', 'dotenv', 'dotenvx', 'infisical'],
  ...['cat', 'bat', 'less', 'more', 'head', 'tail', 'grep', 'egrep', 'fgrep', 'rg', 'ag', 'sed', 'awk'],
  ...['cut', 'sort', 'uniq', 'wc', 'tr', 'jq', 'tee', 'echo', 'printf', 'cd', 'ls', 'pwd', 'find', 'sleep'],
  ...['true', 'test', 'diff', 'journalctl', 'parallel'],
]);
const OTHER_WORDS = new Set([
  ...['commit', 'push', 'status', 'log', 'show', 'reflog', 'branch', 'blame', 'stash', 'notes'],
  ...['pr', 'mr', 'merge-request', 'merge_request.create', 'create', 'new', 'for', 'new-for', 'create-for'],
  ...[
    'repos',
    'pulls',
    'pull',
    'pull-request',
    'api',
    'POST',
    'submit',
    's',
    'ss',
    'c',
    'stack',
    'downstack',
  ],
  ...['upstack', 'bs', 'dss', 'uss', 'then', 'do', 'else', 'elif', 'if', 'while', 'until', 'fi', 'done'],
  ...[
    'foreach',
    '!',
    '{',
    '}',
    '{}',
    '--',
    '--dry-run',
    '--help',
    '--web',
    '--short',
    '--porcelain',
    '--long',
  ],
  ...['--quiet', '--repo', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env'],
  ...['--push-option', '--push-option=merge_request.create', '-omerge_request.create'],
  ...['--field', '--raw-field', '--input', '-command', '-Command', '/c', '/C'],
]);

/** Whether masked words can commit or open a pull request. */
export const CAN_MATTER = /\b(?:commit|pr|mr|pulls?|merge[-_]requests?|pull-request|gt|refs\/for)\b/;

/** Texts in a shell line: an escaped character, a quoted text or a comment. */
const TEXTS = /\\.|'[^']*'|"[^"\\]*(?:\\.[^"\\]*)*"|(?<![^\s;&|()])#[^\n]*/gs;

/** A shell line in which other words are replaced, so that `sql/source/functions.sql` finds the same commands in it. */
export function gitWordsOf(line: string): string {
  return withoutHeredocs(line.slice(0, SEARCHED_CHARACTERS))
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(TEXTS, (text: string, place: number, whole: string) => {
      const inner = text.slice(1, -1);
      if (text.startsWith('\\') || text.startsWith('#')) return 'x';
      if (/^[\w./:@+][\w./:=@+-]*$/.test(inner)) return inner;
      if (
        /(?:^|[\s(])(?:-[a-z]{0,9}c|-command|\/c|eval)\s{1,9}$/i.test(
          whole.slice(Math.max(0, place - 30), place),
        )
      )
        return `'${gitWordsOf(inner.replaceAll(/\\(["\\$`])/g, '$1')).replaceAll("'", '')}'`;
      const substituted = text.startsWith('"') ? [...inner.matchAll(/\$\(([^()"]*)/g)] : [];
      if (substituted.length === 0) return 'x';
      return `"${substituted.map(([, command = '']) => `$(${gitWordsOf(command).replaceAll(/['"]/g, '')})`).join(' ')}"`;
    })
    .replaceAll(/[^\s;&|()`<>'"]+/g, maskOf);
}

/** A word of a shell line, or what is in its place. */
function maskOf(word: string): string {
  if (word.endsWith('$')) return word === '$' ? word : `${maskOf(word.slice(0, -1))}$`;
  const program = word.slice(word.lastIndexOf('/') + 1).replace(/\.exe$/i, '');
  if (PROGRAMS.has(program)) return program;
  if (/^(?:ba|z|da|k|fi)?sh$/.test(program)) return 'sh';
  if (OTHER_WORDS.has(word) || /^\d{1,4}[smhd]?$/.test(word) || /^-[a-zA-Z]$/.test(word)) return word;
  if (/^\w+=/.test(word)) return 'X=x';
  if (/^--(?:repo|git-dir|work-tree|namespace|exec-path|config-env)=/.test(word))
    return word.replace(/=.*/s, '=x');
  if (/^-[apsvneiozS]*q/.test(word)) return '-q';
  if (/^-[defy]*w[defy]*$/.test(word)) return '-w';
  if (/^-[a-z]{1,3}c$/.test(word)) return '-lc';
  if (word.startsWith('-')) return '--x';
  if (word.includes('refs/for/')) return 'refs/for/x';
  if (/repos\/.{0,200}\/pulls$/.test(word)) return 'repos/x/x/pulls';
  if (word.endsWith('/merge_requests')) return 'x/merge_requests';
  // A comment and a quoted text are an x, which is no program.
  return word === 'x' ? word : 'w';
}

/** A shell line without the texts of its heredocs, and without their names. */
function withoutHeredocs(line: string): string {
  if (!line.includes('<<')) return line;
  const kept: string[] = [];
  const waiting: string[] = [];
  for (const one of line.split('\n')) {
    const [word] = waiting;
    if (word === undefined)
      kept.push(
        one.replaceAll(/(?<!<)<<-?[ \t]{0,9}["'\\]?([A-Za-z_][\w.-]*)["']?/g, (_, name: string) => {
          waiting.push(name);
          return '';
        }),
      );
    else if (one.trim() === word) waiting.shift();
  }
  return kept.join('\n');
}
