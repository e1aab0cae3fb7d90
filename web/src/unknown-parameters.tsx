import { nearestName } from '../../src/input/nearest-name.js';
import { type Address, FILTERS, parametersOf } from './address.js';

/** The known name that a given one means: one that is spelled nearly so, or the only filter that begins with it. */
function meantBy(given: string, names: readonly string[]): string | undefined {
  const begun = FILTERS.filter((name) => name.startsWith(`${given}_`));
  return begun.length === 1 ? begun[0] : nearestName(given, names);
}

/** Says which parameters of a link were left out, and which ones were probably meant. */
export function UnknownParameters({ address: { path, unknown = [] } }: { address: Address }) {
  const names = parametersOf(path[0] ?? '');
  return (
    <>
      {unknown.slice(0, 5).map((name) => {
        const meant = meantBy(name, names);
        return (
          <p key={name} class="stale" role="status">
            <code>{name.slice(0, 100)}</code> isn’t known and was left out
            {meant !== undefined && (
              <>
                : did you mean <code>{meant}</code>?
              </>
            )}
          </p>
        );
      })}
    </>
  );
}
