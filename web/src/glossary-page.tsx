import { MEANINGS } from './glossary.js';

/** What the numbers of the other pages mean, as docs/numbers.md says it. */
export function GlossaryPage() {
  return (
    <>
      <div class="top">
        <div>
          <h1>What the numbers mean</h1>
        </div>
      </div>
      <section class="panel glossary" aria-label="Numbers">
        <dl>
          {MEANINGS.map(({ name, sentence, counted }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <p>{sentence}</p>
                <p class="note">{counted}</p>
              </dd>
            </div>
          ))}
        </dl>
        <p class="note">
          The <a href="docs">API</a> has the exact rules.
        </p>
      </section>
    </>
  );
}
