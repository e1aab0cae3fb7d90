import { z } from 'zod';
import { HooksConfig } from '../hooks/hooks-config.js';
import { EmailText, NO_CONTROLS, NOT_BLANK } from '../input/name-text.js';
import { CostTerms } from '../money/cost-terms.js';
import { hasCredentials } from '../network/url-credentials.js';
import { GroupTable } from '../people/group-table.js';
import { AddressRange } from './allowed-addresses.js';

/** A member that may be absent, with its part of the example. */
const member = <Form extends z.ZodType>(form: Form, example: z.input<Form>) =>
  form.meta({ examples: [example] }).optional();

/** A name, or '' if there is none. */
const Name = z.string().regex(/^$|\S/, NOT_BLANK[1]);

const flag = (example: boolean) => member(z.boolean(), example);
const text = (example: string) => member(Name, example);
const texts = (...example: string[]) => member(z.array(Name), example);
const words = (example: string) => member(z.string(), example);
const open = (example: Record<string, unknown>) => member(z.record(z.string(), z.unknown()), example);
const amount = (example: number) => member(z.number().min(0), example);
const port = (example: number) => member(z.int().min(0).max(65_535), example);
const emails = (...example: string[]) => member(z.array(EmailText), example);

const NO_CREDENTIALS =
  'must not have an address with a password or token: put that into env, which is stored encrypted';

/** The paths of texts that contain addresses with credentials, except secrets: see mapSecrets. */
function* addressesWithCredentials(
  value: unknown,
  path: readonly string[] = [],
): Generator<readonly string[]> {
  const [first, , third = ''] = path;
  if (first === 'env' || (first === 'customModels' && ['apiKey', 'extraHeaders'].includes(third))) return;
  if (typeof value === 'string' && hasCredentials(value)) yield path;
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* addressesWithCredentials(member, [...path, name.slice(0, 100)]);
}

/** The events that hooks can be configured for, and two switches. */
const { hooksDisabled, showHookOutput, ...events } = HooksConfig.shape;
const AN_EVENT = `is not a hook event: use ${Object.keys(events).join(', ')}, or ${Object.keys({ hooksDisabled, showHookOutput }).join(' or ')}`;

/** The hooks that an organization controls. A misspelt event would be a rule that never runs. */
const Hooks = HooksConfig.superRefine((hooks, context) => {
  for (const name of Object.keys(hooks))
    if (!Object.hasOwn(HooksConfig.shape, name))
      context.addIssue({ code: 'custom', path: [name.slice(0, 100)], message: AN_EVENT });
}).meta({ additionalProperties: false });

const CustomModel = z.looseObject({
  model: text('acme-large'),
  id: text('custom:acme-large'),
  index: member(z.number(), 0),
  baseUrl: text('https://models.acme.example/v1'),
  apiKey: text('***'),
  displayName: text('Acme Large'),
  maxContextLimit: amount(200_000),
  enableThinking: flag(true),
  thinkingMaxTokens: amount(8192),
  maxOutputTokens: amount(16_384),
  extraHeaders: open({ 'x-team': '***' }),
  extraArgs: open({ temperature: 0.2 }),
  noImageSupport: flag(false),
  cloudhosted: z
    .looseObject({
      cloudProfile: text('production'),
      cloudRegion: text('eu-1'),
      cloudhostedBaseUrl: text('https://cloud.acme.example'),
      cloudAuthRefresh: text('acme login'),
      cloudCredentialExport: text('acme token'),
    })
    .optional(),
  baseModelId: member(z.unknown(), 'claude-opus-4-5'),
  useInRouter: flag(true),
});

/** The settings that an organization's owner controls. */
const Members = z.looseObject({
  sessionDefaultSettings: z
    .looseObject({
      model: text('claude-opus-4-5'),
      specModeModel: text('claude-opus-4-5'),
      runInWorktree: flag(true),
    })
    .optional(),
  subagentModelSettings: z
    .looseObject({ lightModel: text('light'), mediumModel: text('medium'), heavyModel: text('heavy') })
    .optional(),
  mcpAutonomyOverrides: open({ github: 'auto-low' }),
  mcpAutonomyUrlOverrides: z
    .array(z.looseObject({ urlPattern: text('https://mcp.acme.example/*') }))
    .optional(),
  builtInToolAutonomyOverrides: open({ Execute: 'manual' }),
  cloudSessionSync: flag(true),
  voiceDictationEnabled: flag(false),
  wikiCloudSync: flag(false),
  advancedAnalyticsEnabled: flag(true),
  localSignalsOptIn: flag(false),
  includeCoAuthoredByAgent: flag(true),
  enableAgentShield: flag(true),
  agentShield20OptIn: flag(false),
  ideAutoConnect: flag(true),
  commandAllowlist: texts('npm test'),
  commandDenylist: texts('sudo'),
  commandBlocklist: texts('rm -rf /'),
  customModels: z.array(CustomModel).optional(),
  modelPolicy: z
    .looseObject({
      allowedModelIds: texts('claude-opus-4-5'),
      blockedModelIds: texts('old-model'),
      allowCustomModels: flag(true),
      allowedBaseUrls: texts('https://models.acme.example'),
      allowAllPlatformModels: flag(false),
      isFastModelsAllowed: flag(true),
      requireExplicitOptInModelIds: texts('claude-opus-4-5'),
      allowPlatformRouterByok: flag(false),
      platformRouterByokOnly: flag(false),
    })
    .optional(),
  mcpPolicy: z.looseObject({ enabled: flag(true), allowlist: texts('github') }).optional(),
  missionPolicy: z
    .looseObject({
      restrictedAccess: flag(true),
      allowedUserIds: member(z.array(Name.regex(...NO_CONTROLS)), ['ada']),
    })
    .optional(),
  userModelPolicies: open({ ada: { allowedModelIds: ['claude-opus-4-5'] } }),
  enabledPlugins: open({ 'formatter@acme': true }),
  disabledSkills: texts('release-notes'),
  extraKnownMarketplaces: open({ acme: { source: { source: 'codehost', repo: 'acme/plugins' } } }),
  strictKnownMarketplaces: z
    .array(
      z.looseObject({
        source: member(z.enum(['codehost']), 'codehost'),
        repo: text('acme/plugins'),
        ref: text('main'),
        sha: text('0123456789abcdef0123456789abcdef01234567'),
      }),
    )
    .optional(),
  networkPolicy: z
    .looseObject({
      allowedIps: member(z.array(AddressRange), ['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8::/32']),
    })
    .optional(),
  sandbox: z
    .looseObject({
      enabled: flag(true),
      filesystem: z
        .looseObject({
          allowWrite: texts('./'),
          allowRead: texts('/usr'),
          denyWrite: texts('/etc'),
          denyRead: texts('/root'),
        })
        .optional(),
      network: z
        .looseObject({
          allowedDomains: texts('registry.acme.example'),
          allowUnixSockets: texts('/var/run/docker.sock'),
          allowAllUnixSockets: flag(false),
          allowLocalBinding: flag(true),
          httpProxyPort: port(8080),
          socksProxyPort: port(1080),
        })
        .optional(),
    })
    .optional(),
  allowManagedHooksOnly: flag(false),
  hooks: member(Hooks, {
    hooksDisabled: false,
    showHookOutput: true,
    PostToolUse: [
      {
        matcher: 'Edit|Write',
        commandRegex: '',
        hooks: [{ type: 'command', command: 'npm run format', timeout: 30 }],
      },
    ],
  }),
  restrictMemberVisibility: flag(false),
  restrictApiKeyCreationToManagers: flag(true),
  managedComputersEnabled: flag(true),
  byomComputersEnabled: flag(true),
  disableAutoUpdate: flag(false),
  disableWeeklyUsageSummary: flag(true),
  managedComputersAllowedEmails: emails('ada@acme.example'),
  byomComputersAllowedEmails: emails('grace@acme.example'),
  personaSettings: z
    .looseObject({
      enabledRoles: member(z.array(z.unknown()), ['developer']),
      personaConnectors: open({ github: true }),
    })
    .optional(),
  costs: CostTerms.optional(),
  people: z.looseObject({ groups: GroupTable.optional(), toldTeams: flag(true) }).optional(),
  sessionRetentionDays: member(z.int().min(14).max(365), 90),
  platformRouterGuidance: words('Prefer the small model.'),
  platformRouterRules: z
    .array(z.looseObject({ guidance: words('Use the large model.'), when: words('The task spans files.') }))
    .optional(),
  env: open({ ACME_TOKEN: '***' }),
});

/** The example of a schema, made from the examples of its members. */
function exampleOf(schema: unknown): unknown {
  const examples = schema instanceof z.ZodType ? schema.meta()?.examples : undefined;
  if (Array.isArray(examples)) return examples[0];
  if (schema instanceof z.ZodOptional) return exampleOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element)];
  if (!(schema instanceof z.ZodObject)) return undefined;
  return Object.fromEntries(Object.entries(schema.shape).map(([name, form]) => [name, exampleOf(form)]));
}

/** An example with every member, for the reference and for tests. */
export const EXAMPLE = Members.parse(exampleOf(Members));

/** The settings, with members that aren't listed kept as they are. */
export const Settings = Members.superRefine((settings, context) => {
  for (const path of addressesWithCredentials(settings))
    context.addIssue({ code: 'custom', path: [...path], message: NO_CREDENTIALS });
}).meta({
  id: 'EnterpriseControls',
  description: 'members that are not listed here are kept as they are; secrets are shown as ***',
  examples: [EXAMPLE],
});
export type Settings = z.infer<typeof Settings>;
