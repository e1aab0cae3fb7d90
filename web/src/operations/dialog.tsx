import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ServiceError } from '../client.js';

/** A sentence about what was done, also read by screen readers. */
export function Done({ text }: { text: string }) {
  return (
    <p class={text === '' ? 'unseen' : 'done'} role="status">
      {text}
    </p>
  );
}

/** Asks before something that can't be undone. Then the focus goes to the page's title, or back to where it was if the user cancels. */
export function Ask({
  title,
  action,
  act,
  onClose,
  children,
}: {
  title: ComponentChildren;
  /** The label of the button. */
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
      // If only the first cancel event is prevented, browsers still close the dialog on the next Escape.
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
