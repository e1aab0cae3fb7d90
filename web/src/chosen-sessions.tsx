import { usedIn } from './address.js';
import { useAnswer } from './client.js';
import { exactly, figure } from './format.js';
import type { RangeProps } from './page-props.js';
import { type Summary, totalPath } from './summary.js';

/** Says what filters by tool, MCP server and model choose: whole sessions, and which numbers are more than that. */
export function ChosenSessions({ address, last }: RangeProps) {
  const { tool, mcp_server, ...others } = { ...address.filters, ...address.fixed };
  const used = usedIn(address);
  const model = others.model?.join(' or ');
  const isNarrowed = used !== undefined || model !== undefined;
  const chosen = useAnswer<Summary>(isNarrowed ? totalPath(address, last) : undefined);
  const whole = useAnswer<Summary>(
    used === undefined ? undefined : totalPath({ ...address, filters: others, fixed: {} }, last),
  );
  if (!isNarrowed) return null;
  const isLoading = chosen.isLoading || whole.isLoading;
  const [some, all] = [chosen, whole].map(({ answer }) =>
    isLoading ? undefined : answer?.data[0]?.sessions,
  );
  return (
    <section class="chosen" aria-label="What the filters choose">
      {used !== undefined && (
        <>
          <p data-sessions={some} data-of={all}>
            <b>
              Sessions that used <bdi>{used}</bdi>
              {some !== undefined &&
                all !== undefined &&
                `: ${exactly(some, 'count')} of ${exactly(all, 'count')}${all === 0 ? '' : ` (${figure(some / all, 'share')})`}`}
            </b>
          </p>
          <p>
            Every number below is about these whole sessions. Only calls are those of <bdi>{used}</bdi> alone.
          </p>
        </>
      )}
      {model !== undefined && (
        <p>
          Tokens and costs are those of <bdi>{model}</bdi>. Everything else is about all of the sessions that
          used it.
        </p>
      )}
    </section>
  );
}
