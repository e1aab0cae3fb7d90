import { RE2JS } from 're2js';
import { z } from 'zod';
import { compilePattern, PATTERN_SIZE, PATTERNS_SIZE, sizeOfPattern } from '../input/pattern.js';
import '../input/sentence.js';

/** A regular expression in JavaScript's syntax. A star alone matches everything, as an empty text does. */
const Pattern = z.string().max(2048);

const Group = z.looseObject({
  matcher: Pattern.optional(),
  commandRegex: Pattern.optional(),
  hooks: z.array(
    z.looseObject({
      type: z.literal('command'),
      command: z.string().min(1).max(32_768),
      timeout: z.number().gt(0).max(86_400).optional().meta({ description: 'in seconds; by default 60' }),
    }),
  ),
});
export type HookGroup = z.infer<typeof Group>;

const groups = z.array(Group).optional();

const Events = {
  PreToolUse: groups,
  PostToolUse: groups,
  Notification: groups,
  UserPromptSubmit: groups,
  Stop: groups,
  SubagentStop: groups,
  PreCompact: groups,
  SessionStart: groups,
  SessionEnd: groups,
};

const NO_PATTERN = 'must be a regular expression of RE2, which has no look-around and no back references';
const TOO_LARGE = `is too large: with repetitions such as {9} written out, all expressions together can have ${PATTERNS_SIZE} characters`;

/** Compiles a matcher, or an expression for commands. Throws if the text is no valid expression. */
export function compileMatcher(text: string): RE2JS {
  return compilePattern(RE2JS.translateRegExp(text));
}

/** Finds invalid expressions in a configuration. Their total size is limited, because each takes time to compile. */
function* faultsOf(
  config: { readonly [event in keyof typeof Events]?: z.infer<typeof groups> },
): Generator<{ path: (string | number)[]; message: string }> {
  let size = 0;
  for (const event of Object.keys(Events) as (keyof typeof Events)[])
    for (const [place, group] of (config[event] ?? []).entries())
      for (const name of ['matcher', 'commandRegex'] as const) {
        const text = group[name] ?? '';
        if (text === '' || text === '*') continue;
        const path = [event, place, name];
        // An expression that is too large is not compiled.
        size += Math.min(sizeOfPattern(RE2JS.translateRegExp(text)), PATTERN_SIZE);
        if (size > PATTERNS_SIZE) {
          yield { path, message: TOO_LARGE };
          return;
        }
        try {
          compileMatcher(text);
        } catch (error) {
          yield { path, message: error instanceof RangeError ? error.message : NO_PATTERN };
        }
      }
}

/** Commands by the event that they run on, and whether they run. Other members are kept as they are. */
export const HooksConfig = z
  .looseObject({
    hooksDisabled: z.boolean().optional(),
    showHookOutput: z.boolean().optional(),
    ...Events,
  })
  .superRefine((config, context) => {
    for (const fault of faultsOf(config)) context.addIssue({ code: 'custom', ...fault });
  });
export type HooksConfig = z.infer<typeof HooksConfig>;
