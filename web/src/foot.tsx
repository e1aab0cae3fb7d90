import { version } from '../../package.json';
import { rangeOf } from './address.js';
import { lengthOf } from './days.js';
import { instantText } from './format.js';
import type { RangeProps } from './page-props.js';
import { useQuality } from './quality.js';
import { may, type Session } from './session.js';

/** How complete the numbers of the range are. */
export function Foot({ address, last, session }: RangeProps & { session: Session }) {
  const range = rangeOf(address, last);
  const { answer } = useQuality(may(session, 'see people by name') ? range : undefined);
  const built = answer?.data.length ?? 0;
  const restated = answer?.data.filter(({ restatements }) => restatements.length > 0).length ?? 0;
  const at = answer?.meta.data_refreshed_at;
  return (
    <footer class="foot">
      <p>
        {answer !== undefined &&
          `${built} of ${lengthOf(range)} days built${at ? `, last on ${instantText(at)}` : ''}. ` +
            (restated === 0
              ? 'None was restated.'
              : `${restated} ${restated === 1 ? 'was' : 'were'} restated.`)}
      </p>
      <p>
        Daybook {version} · <a href="docs">API</a>
      </p>
    </footer>
  );
}
