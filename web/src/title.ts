import { useLayoutEffect } from 'preact/hooks';

/** Sets the document's title as soon as the page is drawn. */
export function useTitle(name: string): void {
  useLayoutEffect(() => {
    document.title = `${name} · Daybook`;
  }, [name]);
}
