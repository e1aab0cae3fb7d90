import { z } from 'zod';
import '../sentence.js';

function isPattern(text: string): boolean {
  try {
    RegExp(text);
    return true;
  } catch {
    return text === '*';
  }
}

const Pattern = z.string().max(2048).refine(isPattern, 'must be a regular expression');

const Group = z.looseObject({
  matcher: Pattern.optional(),
  commandRegex: Pattern.optional(),
  hooks: z.array(
    z.looseObject({
      type: z.literal('command'),
      command: z.string().min(1).max(32_768),
      timeout: z
        .number()
        .gt(0)
        .max(86_400)
        .optional()
        .meta({ description: 'in seconds; 60 where there is none' }),
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
