import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A length in pixels as a style needs it: Preact adds no unit to numbers. */
export function px(pixels: number): string {
  return `${pixels}px`;
}

/** The width of an element. Renders again when it changes. */
function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width];
}

/** The width in pixels of a plot on paper: browsers don't measure again before they print. */
const PAPER = 640;

/** Draws a plot as wide as its holder, and again when the width or one of the values `of` changes. */
export function useDrawing(draw: (width: number) => Element, of: readonly unknown[]) {
  const [holder, width] = useWidth();
  const drawing = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (width === 0) return;
    const show = (wide: number) => {
      const plot = draw(wide);
      // The policy of the page refuses styles in the document, so these are in style.css.
      for (const style of plot.querySelectorAll('style')) style.remove();
      plot.setAttribute('aria-hidden', 'true');
      drawing.current?.replaceChildren(plot);
    };
    show(width);
    const print = () => show(PAPER);
    const printed = () => show(width);
    window.addEventListener('beforeprint', print);
    window.addEventListener('afterprint', printed);
    return () => {
      window.removeEventListener('beforeprint', print);
      window.removeEventListener('afterprint', printed);
    };
  }, [width, ...of]);
  return { holder, drawing, width };
}

interface DrawingProps {
  readonly draw: (width: number) => Element;
  readonly of: readonly unknown[];
  /** The height in pixels that is reserved before it is drawn. */
  readonly height?: number;
  /** Called when a named mark is clicked. Keyboard users find the same in a table or list. */
  readonly onName?: (name: string) => void;
}

/** The attributes of a chart whose named marks can be clicked. */
export function clickOf(onName: ((name: string) => void) | undefined) {
  return {
    class: onName === undefined ? '' : 'choosing',
    onClick: (event: MouseEvent) => {
      const { name } = (event.target as SVGElement).dataset;
      if (name !== undefined) onName?.(name);
    },
  };
}

/** A plot that can't be read place by place. */
export function Drawing({ draw, of, height = 0, onName }: DrawingProps) {
  const { holder, drawing } = useDrawing(draw, of);
  return (
    <div ref={holder} {...clickOf(onName)}>
      <div ref={drawing} style={{ minHeight: px(height) }} />
    </div>
  );
}

/** Lets the arrow keys or the pointer move through a chart's places. Answers the current place, and attributes for its element. */
export function useReading(label: string, count: number, placeAt: (event: PointerEvent) => number) {
  const [place, setPlace] = useState<number>();
  // The chart may have fewer places than before.
  const at = place !== undefined && place < count ? place : undefined;
  const leave = () => setPlace(undefined);
  const reading = {
    role: 'application' as const,
    'aria-label': label,
    tabIndex: 0,
    onKeyDown: (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      setPlace(Math.min(count - 1, Math.max(0, (at ?? (step > 0 ? -1 : count)) + step)));
    },
    onBlur: leave,
    onPointerMove: (event: PointerEvent) => setPlace(placeAt(event)),
    onPointerLeave: leave,
  };
  return { at, reading };
}
