import { useLayoutEffect } from 'preact/hooks';

/** Names the document by what it shows, as soon as that is drawn. */
export function useTitle(name: string): void {
  useLayoutEffect(() => {
    document.title = `${name} · Daybook`;
  }, [name]);
}
