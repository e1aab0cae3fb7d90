import { z } from 'zod';
import { ulid } from '../ulid.js';

/** The steps of provisioning, in order. */
export const StepName = z.enum(['create-computer', 'configure-user', 'clone-repos', 'install-dependencies']);
export type StepName = z.infer<typeof StepName>;

const instant = z
  .int()
  .min(0)
  .meta({ description: 'in Unix milliseconds', examples: [1_780_272_904_000] });

/** A step of a computer's provisioning. */
export const Step = z
  .strictObject({
    id: z.string().meta({ examples: ['step_01JWN2ZK4Q8V7T5R3P1M9X6C0B'] }),
    name: StepName,
    status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
    error: z
      .string()
      .meta({ description: 'why the step failed', examples: ['"npm ci" ended with 1.'] })
      .optional(),
    startedAt: instant.optional(),
    completedAt: instant.optional(),
    installSessionId: z
      .string()
      .meta({
        description: 'id of the run that installs dependencies',
        examples: ['ins_01JWN2ZK4Q8V7T5R3P1M9X6C0B'],
      })
      .optional(),
  })
  .meta({ id: 'ProvisioningStep' });
export type Step = z.infer<typeof Step>;

export const Steps = z.array(Step);
export type Steps = z.infer<typeof Steps>;

/** The steps that provision a computer. If the machine already exists, the first two are completed. */
export function stepsFor(
  wanted: { isThere: boolean; hasRepos: boolean; autoInstallDeps: boolean },
  now: number,
): Steps {
  const { isThere, hasRepos, autoInstallDeps } = wanted;
  const step = (name: StepName, isDone: boolean): Step => ({
    id: `step_${ulid(now)}`,
    name,
    status: isDone ? 'completed' : 'pending',
    ...(isDone ? { startedAt: now, completedAt: now } : {}),
  });
  return [
    step('create-computer', isThere),
    step('configure-user', isThere),
    ...(hasRepos ? [step('clone-repos', false)] : []),
    ...(autoInstallDeps ? [step('install-dependencies', false)] : []),
  ];
}

/** The steps, with one of them changed. */
export function withStep(steps: Steps, name: StepName, change: Partial<Step>): Steps {
  return steps.map((step) => (step.name === name ? { ...step, ...change } : step));
}

/** The steps of a computer whose machine is gone: all are pending, with an error. */
export function lost(steps: Steps, now: number): Steps {
  const error = 'The machine is gone: retry to create another.';
  return steps.map(({ id, name }) =>
    name === 'create-computer'
      ? { id, name, status: 'failed', error, completedAt: now }
      : { id, name, status: 'pending' },
  );
}

/** The steps, with one of them pending again. */
export function undone(steps: Steps, name: StepName): Steps {
  return steps.map((step) => (step.name === name ? { id: step.id, name, status: 'pending' } : step));
}

/** The steps for a retry: those that failed or were interrupted are pending again. */
export function retried(steps: Steps): Steps {
  return steps
    .filter(({ status }) => status === 'failed' || status === 'in_progress')
    .reduce((before, { name }) => undone(before, name), steps);
}
