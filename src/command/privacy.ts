import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { call } from '../socket/call.js';
import { MODES, type PrivacyRevision, SMALLEST_GROUP } from '../store/state/privacy-revisions.js';
import { count } from '../terminal/terminal.js';
import { numberFrom } from './number-option.js';
import { type Invocation, print } from './program.js';

interface ShowOptions {
  readonly org: string;
  readonly json?: boolean;
}

interface SetOptions extends ShowOptions {
  readonly mode?: (typeof MODES)[number];
  readonly smallestGroup?: number;
  readonly auditor?: readonly string[];
}

/** Adds `privacy` to the program. */
export function add(program: Command, invocation: Invocation): void {
  const privacy = program.command('privacy').description('say who may see people by name');

  privacy
    .command('show')
    .description('show who may')
    .requiredOption('--org <org>', 'organization')
    .option('--json', 'print JSON')
    .action((options: ShowOptions) => show(options, invocation));

  privacy
    .command('set')
    .description('change who may: what you leave out stays as it is')
    .requiredOption('--org <org>', 'organization')
    .addOption(new Option('--mode <mode>', 'protected: only auditors see people by name').choices(MODES))
    .option(
      '--smallest-group <people>',
      'how many people a group has at least that is shown',
      numberFrom(SMALLEST_GROUP.least, SMALLEST_GROUP.most, 'whole'),
    )
    .option('--auditor <user...>', 'all users who see people by name; "" for none')
    .option('--json', 'print JSON')
    .action((options: SetOptions) => set(options, invocation));
}

async function show({ org, json }: ShowOptions, { settings, clock }: Invocation): Promise<void> {
  tell(await call(settings(), clock, 'getPrivacy', { orgId: org }), org, json);
}

async function set(
  { org, json, mode, smallestGroup, auditor }: SetOptions,
  { settings, clock }: Invocation,
): Promise<void> {
  const before = await call(settings(), clock, 'getPrivacy', { orgId: org });
  const change = {
    mode: mode ?? before.mode,
    smallestGroup: smallestGroup ?? before.smallestGroup,
    auditors: auditor?.filter((user) => user !== '') ?? before.auditors,
  };
  tell(
    await call(settings(), clock, 'setPrivacy', { orgId: org, change, user: userInfo().username }),
    org,
    json,
  );
}

function tell(found: PrivacyRevision, org: string, json: boolean | undefined): void {
  print(json === true ? JSON.stringify(found) : inWords(found, org));
}

function inWords({ mode, smallestGroup, auditors }: PrivacyRevision, org: string): string {
  if (mode === 'open') return `${org} is open: owners and managers see people by name.`;
  const shown = `${org} is protected: people are shown in groups of at least ${smallestGroup}.`;
  return auditors.length === 0
    ? `${shown}\nNobody sees them by name: name auditors with "daybook privacy set --auditor".`
    : `${shown}\nBy name they are seen by ${count(auditors.length, 'auditor')}: ${auditors.join(', ')}`;
}
