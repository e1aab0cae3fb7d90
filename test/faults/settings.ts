import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** How often the crash suite kills, its seed, and how long it looks at the memory: little and always alike in `npm run test:program`. */
    faults: { readonly kills: number; readonly seed: number; readonly soakMinutes: number };
  }
}

const { kills, seed, soakMinutes } = inject('faults');

/**
 * How often processes are killed, the seed of what is done, sent and killed, and how long memory is looked at. To play a run again:
 *
 *   FAULTS_SEED=7 FAULTS_KILLS=100 npm run test:faults
 */
export const KILLS = Number(process.env.FAULTS_KILLS ?? kills);
export const SEED = Number(process.env.FAULTS_SEED ?? seed);
export const SOAK_MINUTES = Number(process.env.FAULTS_SOAK_MINUTES ?? soakMinutes);
