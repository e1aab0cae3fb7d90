import { z } from 'zod';
import { SILENCE_STATES } from '../store/state/silence.js';
import { filterOf } from './filter.js';

/** The query parameters of the answer about silence. */
export const SilenceQuery = z.strictObject({
  state: filterOf(z.enum(SILENCE_STATES), {
    description: 'only these states; silent, acknowledged and idle by default',
    examples: ['silent'],
  }),
});
