import { useEffect, useState } from 'preact/hooks';

/** How long after the last keystroke a text is used. */
const TYPING_MS = 150;

/** A text, once the user pauses typing. */
export function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}
