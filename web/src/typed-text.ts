import { useEffect, useState } from 'preact/hooks';

/** How long after the last letter a text is asked for. */
const TYPING_MS = 150;

/** A text once its writer pauses. */
export function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}
