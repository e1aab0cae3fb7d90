import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ServiceError } from '../client.js';

/** A labelled field of a form, with a hint about its content. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

/** The texts of a form's non-empty fields. */
export type Texts = Readonly<Record<string, string>>;

/** A form. If the service refuses its content, it shows the service's sentence and keeps the content. */
export function Form({
  action,
  send,
  children,
}: {
  /** The label of the button. */
  action: string;
  send: (texts: Texts) => Promise<void>;
  children: ComponentChildren;
}) {
  const [fault, setFault] = useState('');
  const [isBusy, setIsBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const entries = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()] as const);
    setIsBusy(true);
    setFault('');
    try {
      await send(Object.fromEntries(entries.filter(([, value]) => value !== '')));
      form.reset();
    } catch (error) {
      setFault((error as ServiceError).message);
    }
    setIsBusy(false);
  }

  return (
    <form class="fields" onSubmit={submit}>
      {children}
      <p role="alert" class="bad">
        {fault}
      </p>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}
