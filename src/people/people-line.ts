import { z } from 'zod';
import { DaySchema } from '../day.js';
import { GroupName, PersonEmail, PersonName, UserId } from '../store/state/person.js';

/** How many lines a file of people can have: some of each person. */
export const LINES_AT_MOST = 200_000;

/** A line of a file of people. A column that the file lacks is undefined in all of them. */
export const PeopleLine = z.strictObject({
  /** The number of the line. */
  line: z.int(),
  user_id: UserId,
  name: PersonName.optional(),
  email: z.array(PersonEmail).optional(),
  alias: z.array(UserId).optional(),
  team: z.union([z.literal(''), GroupName]).optional(),
  cost_center: z.union([z.literal(''), GroupName]).optional(),
  from: DaySchema.optional(),
  to: DaySchema.optional(),
  is_lead: z.boolean().optional(),
});
export type PeopleLine = Readonly<z.infer<typeof PeopleLine>>;
