import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** How often the crash suite kills, and its seed: few times and always alike in `npm run test:program`. */
    faults: { readonly kills: number; readonly seed: number };
  }
}

const { kills, seed } = inject('faults');

/**
 * How often processes are killed, and the seed of what is done, sent and killed. To play a run again:
 *
 *   FAULTS_SEED=7 FAULTS_KILLS=100 npm run test:faults
 */
export const KILLS = Number(process.env.FAULTS_KILLS ?? kills);
export const SEED = Number(process.env.FAULTS_SEED ?? seed);
