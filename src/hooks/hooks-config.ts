import { z } from 'zod';
import '../sentence.js';
import { compilePattern } from './pattern.js';

/** A star alone stands for everything, as an empty text does. */
function isPattern(text: string): boolean {
  try {
    if (text !== '*') compilePattern(text);
    return true;
  } catch {
    return false;
  }
}

const Pattern = z
  .string()
  .max(2048)
  .refine(isPattern, 'must be a regular expression of RE2, which has no look-around and no back references');

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

/** Commands by the event that they run on, and whether they run (public-api.md 6.1). Other members are kept as they are. */
export const HooksConfig = z.looseObject({
  hooksDisabled: z.boolean().optional(),
  showHookOutput: z.boolean().optional(),
  PreToolUse: groups,
  PostToolUse: groups,
  Notification: groups,
  UserPromptSubmit: groups,
  Stop: groups,
  SubagentStop: groups,
  PreCompact: groups,
  SessionStart: groups,
  SessionEnd: groups,
});
export type HooksConfig = z.infer<typeof HooksConfig>;
