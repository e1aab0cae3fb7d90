import { type Address, hrefOf } from './address.js';

interface SortedHeadProps {
  readonly address: Address;
  /** The order of the table: `cost_usd`, `cost_usd:asc`. */
  readonly sort: string;
  /** What the service calls the column. */
  readonly member: string;
  readonly name: string;
}

/** The head of a column. A press sorts the table by it, a second one the other way round. */
export function SortedHead({ address, sort, member, name }: SortedHeadProps) {
  const [sorted, direction = 'desc'] = sort.split(':');
  const isSorted = member === sorted;
  const to = isSorted && direction === 'desc' ? `${member}:asc` : member;
  return (
    <th
      scope="col"
      class="number"
      aria-sort={isSorted ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
    >
      <a href={hrefOf({ ...address, choices: { ...address.choices, sort: to } })}>
        {name}
        {isSorted && (direction === 'asc' ? ' ↑' : ' ↓')}
      </a>
    </th>
  );
}
