import type { Address } from './address.js';
import type { Day } from './days.js';
import type { Session } from './session.js';

/** The props of every page. */
export interface PageProps {
  readonly address: Address;
  readonly session: Session;
}

/** The props of components that show the numbers of the address. */
export interface RangeProps {
  readonly address: Address;
  /** The newest day with numbers. */
  readonly last: Day;
}
