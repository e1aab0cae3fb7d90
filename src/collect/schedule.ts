import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { rmSync } from '../disk/renames.js';
import { codeOf, messageOf, UsageError } from '../exit.js';
import { SOURCES } from '../ingest/source.js';

const run = promisify(execFile);

/** The schedulers of Linux, macOS and Windows that run a user's programs. */
export const SCHEDULERS = ['systemd', 'launchd', 'schtasks'] as const;
export type Scheduler = (typeof SCHEDULERS)[number];

/** A program, its environment, and how often it runs. */
export interface Job {
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly everyMinutes: number;
}

/** The files of a schedule, and the commands that begin and end it. */
export interface Schedule {
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly begin: readonly (readonly string[])[];
  readonly end: readonly (readonly string[])[];
}

export function schedulerOf(platform: NodeJS.Platform): Scheduler {
  if (platform === 'win32') return 'schtasks';
  return platform === 'darwin' ? 'launchd' : 'systemd';
}

/** The variables for certificates and proxies. */
const NETWORK = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** The variables for agents' folders and for the network. No shell sets them for a scheduled run. */
export function variablesFor(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = SOURCES.flatMap(({ folders }) =>
    folders.flatMap((folder) => [...folder.matchAll(/\$\{(\w+):-/g)].map(([, name = '']) => name)),
  );
  return Object.fromEntries(
    [...new Set([...names, ...NETWORK])].flatMap((name) => {
      const value = environment[name.toLowerCase()] || environment[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

/** The schedule of a job. */
export function scheduleOf(scheduler: Scheduler, job: Job, folder: string): Schedule {
  return { systemd, launchd, schtasks }[scheduler](job, folder);
}

/**
 * Restricts the scheduled program to what it needs. Private mounts and fewer capabilities are left out: on some systems the user's
 * systemd can't set them, and the unit wouldn't start there.
 */
const CONFINED = `UMask=0077
LimitCORE=0
MemoryMax=80%
NoNewPrivileges=true
LockPersonality=true
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
`;

function systemd({ program, environment, everyMinutes }: Job): Schedule {
  const config = process.env.XDG_CONFIG_HOME ?? '';
  const units = join(isAbsolute(config) ? config : join(homedir(), '.config'), 'systemd', 'user');
  const quoted = (text: string) =>
    `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`;
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`,
  );
  return {
    files: {
      [join(units, 'daybook-collect.service')]: `[Unit]
Description=Send events of coding agents to Daybook

[Service]
Type=oneshot
${variables.join('')}ExecStart=${program.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
Nice=10
${CONFINED}`,
      [join(units, 'daybook-collect.timer')]: `[Unit]
Description=Send events of coding agents to Daybook every ${everyMinutes} min

[Timer]
OnActiveSec=10s
OnUnitInactiveSec=${everyMinutes}min
RandomizedDelaySec=30s

[Install]
WantedBy=timers.target
`,
    },
    begin: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', '--now', 'daybook-collect.timer'],
    ],
    end: [['systemctl', '--user', 'disable', '--now', 'daybook-collect.timer']],
  };
}

function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function launchd({ program, environment, everyMinutes }: Job): Schedule {
  const label = 'dev.daybook.collect';
  const path = join(homedir(), 'Library', 'LaunchAgents', `${label}.plist`);
  const domain = `gui/${process.getuid?.() ?? 501}`;
  const words = program.map((word) => `    <string>${xml(word)}</string>\n`).join('');
  const variables = Object.entries(environment)
    .map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>\n`)
    .join('');
  return {
    files: {
      [path]: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>StartInterval</key>
  <integer>${Math.round(everyMinutes * 60)}</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`,
    },
    begin: [['launchctl', 'bootstrap', domain, path]],
    end: [['launchctl', 'bootout', `${domain}/${label}`]],
  };
}

/** Needs no variables, because Windows passes the user's variables to every program. */
function schtasks({ program, everyMinutes }: Job, folder: string): Schedule {
  const name = 'Daybook collect';
  const path = join(folder, 'task.xml');
  const [command = '', ...args] = program;
  // Without conhost.exe, every run would open a window.
  const headless = ['--headless', command, ...args].map((word) => `"${word.replaceAll('"', '\\"')}"`);
  const text = `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Send events of coding agents to Daybook</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
      <Repetition>
        <Interval>PT${Math.round(everyMinutes * 60)}S</Interval>
      </Repetition>
      <RandomDelay>PT30S</RandomDelay>
    </TimeTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <Priority>8</Priority>
  </Settings>
  <Actions>
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>${xml(headless.join(' ').replace('"--headless"', '--headless'))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
  return {
    files: { [path]: Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le') },
    begin: [['schtasks', '/Create', '/F', '/TN', name, '/XML', path]],
    end: [['schtasks', '/Delete', '/F', '/TN', name]],
  };
}

/** Writes the files of a schedule and starts it, replacing an earlier one. Throws a UsageError if that fails, and leaves no files. */
export async function beginSchedule(schedule: Schedule): Promise<void> {
  await endSchedule(schedule);
  for (const [path, text] of Object.entries(schedule.files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  for (const [command = '', ...args] of schedule.begin) {
    try {
      await run(command, args);
    } catch (error) {
      for (const path of Object.keys(schedule.files)) rmSync(path, { force: true });
      const { stderr = '' } = error as { stderr?: string };
      throw new UsageError(
        `"${[command, ...args].join(' ')}" fails (${stderr.trim().split('\n')[0] || codeOf(error) || messageOf(error)}), so nothing was installed: have another program run "daybook collect", or keep "daybook collect --watch" running.`,
      );
    }
  }
}

/** Ends a schedule and removes its files. Answers whether there was one. */
export async function endSchedule(schedule: Schedule): Promise<boolean> {
  const paths = Object.keys(schedule.files).filter((path) => existsSync(path));
  if (paths.length === 0) return false;
  // These fail if the schedule was ended by hand.
  for (const [command = '', ...args] of schedule.end) await run(command, args).catch(() => undefined);
  for (const path of paths) rmSync(path, { force: true });
  return true;
}
