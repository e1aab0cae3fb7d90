import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ServiceError } from '../client.js';

/** What was done, for everybody to see and for screen readers to say. */
export function Done({ text }: { text: string }) {
  return (
    <p class={text === '' ? 'unseen' : 'done'} role="status">
      {text}
    </p>
  );
}

/**
 * Asks before something that can't be undone is done. The focus goes to the page's title once it is done, and back to where it was if it
 * isn't.
 */
export function Ask({
  title,
  action,
  act,
  onClose,
  children,
}: {
  title: ComponentChildren;
  /** What the button says. */
  action: string;
  act: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [fault, setFault] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  async function submit(event: Event) {
    event.preventDefault();
    setIsBusy(true);
    try {
      await act();
      dialog.current?.close();
      document.querySelector<HTMLElement>('main h1')?.focus();
    } catch (error) {
      setFault((error as ServiceError).message);
      setIsBusy(false);
    }
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Prevented once, a browser closes it with the next Escape all the same.
      closedby={isBusy ? 'none' : 'closerequest'}
      onCancel={(event) => isBusy && event.preventDefault()}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        {children}
        <p role="alert" class="bad">
          {fault}
        </p>
        <div class="buttons">
          <button type="button" autofocus disabled={isBusy} onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
