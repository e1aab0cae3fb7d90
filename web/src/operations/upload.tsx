import { useRef, useState } from 'preact/hooks';
import type { Answers, Computer } from '../answers.js';
import { ServiceError, sendJson } from '../client.js';
import { exactly } from '../format.js';
import { Field } from './fields.js';

/** The progress of a file. */
type Progress =
  | { readonly is: 'sending'; readonly share: number }
  | { readonly is: 'writing' }
  | { readonly is: 'done'; readonly sentence: string }
  | {
      readonly is: 'failed';
      readonly sentence: string;
      readonly complete?: (() => Promise<void>) | undefined;
    };

/** Sends a file's bytes. Only XMLHttpRequest reports how many were sent. */
function put(url: string, file: File, sent: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    // If the answer isn't JSON, such as a proxy's own page, the response is null.
    request.responseType = 'json';
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded }) => sent(file.size === 0 ? 1 : loaded / file.size);
    request.onload = () => {
      if (request.status < 300) return resolve();
      const detail = request.response?.detail ?? `The service answered ${request.status}.`;
      reject(new ServiceError(request.status, detail, undefined));
    };
    request.onerror = () =>
      reject(
        new ServiceError(
          0,
          new URL(url).origin === location.origin
            ? 'The connection broke while the file was sent: send it again.'
            : 'This service keeps files in a bucket, which the page may not send to: use "daybook computers upload".',
          undefined,
        ),
      );
    request.send(file);
  });
}

/** Sends a file into a computer's workspace. */
export function Upload({ computer }: { computer: Computer }) {
  const [progress, setProgress] = useState<Progress>();
  const form = useRef<HTMLFormElement>(null);
  const isBusy = progress?.is === 'sending' || progress?.is === 'writing';

  async function submit(event: Event) {
    event.preventDefault();
    const fields = new FormData(form.current ?? undefined);
    const file = fields.get('file') as File;
    const destPath = String(fields.get('destPath')).trim();
    const path = `api/v0/computers/${computer.id}/files/${encodeURIComponent(file.name)}`;
    try {
      setProgress({ is: 'sending', share: 0 });
      const { transferId, uploadUrl } = await sendJson<Answers['createUpload']>(
        'POST',
        `${path}/create-upload`,
        { sizeBytes: file.size, ...(file.type === '' ? {} : { contentType: file.type }) },
      );
      await put(uploadUrl, file, (share) => setProgress({ is: 'sending', share }));
      await complete();

      /** The service keeps the bytes for some minutes, so that a computer that was away gets them without another upload. */
      async function complete(): Promise<void> {
        setProgress({ is: 'writing' });
        try {
          const { byteLength } = await sendJson<Answers['completeUpload']>(
            'POST',
            `${path}/complete-upload`,
            { transferId, sessionId: `page_${transferId}`, ...(destPath === '' ? {} : { destPath }) },
          );
          const where = [destPath.replace(/\/$/, ''), file.name].filter(Boolean).join('/');
          setProgress({
            is: 'done',
            sentence: `${where} is on ${computer.name}: ${exactly(byteLength, 'count')} bytes.`,
          });
          form.current?.reset();
        } catch (error) {
          const { message, status } = error as ServiceError;
          setProgress({ is: 'failed', sentence: message, complete: status === 503 ? complete : undefined });
        }
      }
    } catch (error) {
      setProgress({ is: 'failed', sentence: (error as ServiceError).message });
    }
  }

  return (
    <details class="upload">
      <summary>Send a file to {computer.name}</summary>
      <form class="fields" ref={form} onSubmit={submit}>
        <Field label="File" hint="At most 2 GiB. An existing file is never replaced.">
          <input type="file" name="file" required />
        </Field>
        <Field label="Folder in the workspace" hint="Empty: the workspace itself.">
          <input name="destPath" autocomplete="off" spellcheck={false} />
        </Field>
        {progress?.is === 'sending' && (
          <label class="field">
            <span>Sending</span>
            <progress value={progress.share} max={1} />
          </label>
        )}
        <p role="status">
          {progress?.is === 'writing'
            ? 'The computer writes the file…'
            : progress?.is === 'done'
              ? progress.sentence
              : ''}
        </p>
        <p role="alert" class="bad">
          {progress?.is === 'failed' ? progress.sentence : ''}
        </p>
        <div class="buttons">
          <button type="submit" disabled={isBusy}>
            Send
          </button>
          {progress?.is === 'failed' && progress.complete !== undefined && (
            <button type="button" onClick={progress.complete}>
              Write it now
            </button>
          )}
        </div>
      </form>
    </details>
  );
}
