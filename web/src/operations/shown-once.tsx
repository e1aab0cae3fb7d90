import { useEffect, useId, useRef } from 'preact/hooks';
import { Code } from '../panel.js';

/** A secret that is only in this answer, shown until the reader has taken it. */
export function ShownOnce({
  title,
  sentence,
  text,
  onDone,
}: {
  title: string;
  sentence: string;
  text: string;
  onDone: () => void;
}) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="panel span-12 once" aria-labelledby={id}>
      <h2 id={id} ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>{sentence}</p>
      <Code text={text} />
      <div class="buttons">
        <button
          type="button"
          class="main"
          onClick={() => {
            onDone();
            document.querySelector<HTMLElement>('main h1')?.focus();
          }}
        >
          I have copied it
        </button>
      </div>
    </section>
  );
}
