import { type Address, type Filter, hrefOf, toggled } from './address.js';
import { nameOf } from './format.js';

/** What colours stand for, with their numbers. A click filters where there is a filter. */
export function Legend({
  address,
  filter,
  entries,
}: {
  address?: Address;
  filter?: Filter;
  entries: readonly { name: string; color: string; text?: string }[];
}) {
  return (
    <ul class="legend">
      {entries.map(({ name, color, text }) => {
        const label = (
          <>
            <i class="swatch" style={{ background: `var(${color})` }} />
            <bdi>{filter === undefined ? name : nameOf(filter, name)}</bdi>
            {text !== undefined && <span class="note">{text}</span>}
          </>
        );
        return (
          <li key={name}>
            {filter === undefined || address === undefined || name === 'others' ? (
              <span>{label}</span>
            ) : (
              <a
                href={hrefOf(toggled(address, filter, name))}
                title={name}
                aria-current={address.filters[filter] === name ? 'true' : undefined}
              >
                {label}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
