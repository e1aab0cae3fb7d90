import { z } from 'zod';
import { ulid } from '../ulid.js';

/** What provisioning does, in this order (decisions.md, Computers). */
export const StepName = z.enum(['create-computer', 'configure-user', 'clone-repos', 'install-dependencies']);
export type StepName = z.infer<typeof StepName>;

/** A step of a computer's provisioning (public-api.md 2.2). Instants are Unix milliseconds. */
export const Step = z.strictObject({
  id: z.string(),
  name: StepName,
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
  error: z.string().optional().meta({ description: 'what went wrong, of a step that failed' }),
  startedAt: z.int().min(0).optional(),
  completedAt: z.int().min(0).optional(),
  installSessionId: z.string().optional().meta({ description: 'names the run that installs dependencies' }),
});
export type Step = z.infer<typeof Step>;

export const Steps = z.array(Step);
export type Steps = z.infer<typeof Steps>;

/** The steps that make a computer as it is wanted. Of a machine that exists the first two are done. */
export function stepsFor(
  wanted: {
    provider?: 'byom' | 'e2b' | undefined;
    repos?: readonly string[] | undefined;
    autoInstallDeps?: boolean | undefined;
  },
  now: number,
): Steps {
  const isThere = wanted.provider !== 'e2b';
  const step = (name: StepName, isDone: boolean): Step => ({
    id: `step_${ulid(now)}`,
    name,
    status: isDone ? 'completed' : 'pending',
    ...(isDone ? { startedAt: now, completedAt: now } : {}),
  });
  return [
    step('create-computer', isThere),
    step('configure-user', isThere),
    ...((wanted.repos?.length ?? 0) > 0 ? [step('clone-repos', false)] : []),
    ...(wanted.autoInstallDeps === true ? [step('install-dependencies', false)] : []),
  ];
}

/** The steps with one changed. */
export function withStep(steps: Steps, name: StepName, change: Partial<Step>): Steps {
  return steps.map((step) => (step.name === name ? { ...step, ...change } : step));
}

/** The steps as they are tried again: what failed or was cut off waits for its turn. */
export function retried(steps: Steps): Steps {
  return steps.map((step) =>
    step.status === 'failed' || step.status === 'in_progress'
      ? { id: step.id, name: step.name, status: 'pending' }
      : step,
  );
}
