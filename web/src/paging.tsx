import { useRef } from 'preact/hooks';

interface PagingProps {
  /** The cursors of the pages turned to so far, except the first page. */
  readonly cursors: readonly string[];
  /** The cursor of the next page; null if there is none, undefined until it is known. */
  readonly next: string | null | undefined;
  readonly turn: (cursors: readonly string[]) => void;
  readonly names?: readonly [back: string, on: string];
}

/** Turns the pages of a list. Buttons that lead nowhere stay in place, so that they keep the focus. */
export function Paging({ cursors, next, turn, names: [back, on] = ['Previous', 'Next'] }: PagingProps) {
  const isLong = useRef(false);
  isLong.current ||= cursors.length > 0 || Boolean(next);
  if (!isLong.current) return null;
  return (
    <p class="paging">
      <button
        type="button"
        aria-disabled={cursors.length === 0}
        onClick={() => cursors.length > 0 && turn(cursors.slice(0, -1))}
      >
        {back}
      </button>
      <button type="button" aria-disabled={!next} onClick={() => next && turn([...cursors, next])}>
        {on}
      </button>
    </p>
  );
}
