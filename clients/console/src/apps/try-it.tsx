import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { messageOf } from '../api/api-error';
import { queries } from '../api/queries';
import { durationText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { SelectField, TextArea, TextField } from '../design/field';
import { Alert } from '../design/layout';
import { LatestEvent, newestEvent } from '../usage/latest-event';
import { useAppDraft } from './app-draft';
import { problemOfAnswer } from './call-problem.rules';
import type { Stage } from './stream-text.rules';
import { streamedCall } from './streamed-call';

const DEFAULT_MESSAGE = 'Say good morning in three languages.';
const NO_TARGET = '';

interface Call {
  /** Absent while the answer arrives. */
  readonly status?: number;
  readonly text: string;
  readonly stages: readonly Stage[];
  /** The newest event before the call. */
  readonly afterId: number;
}

/** Sends a real call as a caller of the application would. The key stays in this panel and is forgotten with it. */
export function TryIt({
  isOpen,
  onClose,
  endpoint,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly endpoint?: string;
}) {
  return (
    <Dialog
      title="Try it"
      lead="A real call through the gateway: checked, limited, priced and recorded like any other."
      isOpen={isOpen}
      onClose={onClose}
      isDrawer
      guards="unsent"
    >
      <Panel endpoint={endpoint} />
    </Dialog>
  );
}

function Panel({ endpoint }: { readonly endpoint: string | undefined }) {
  const { id, loaded } = useAppDraft();
  const authentication = Object(loaded.app.config).authentication ?? {};
  const isServer = authentication.type === 'api_key';
  const header =
    authentication.end_user?.source === 'header' ? (authentication.end_user.header ?? 'x-end-user-id') : undefined;
  const { data: providers = [] } = useQuery(queries.providers());
  const usable = providers.filter(
    ({ status, capability }) => status === 'active' && capability.apiStyles.includes('chat_completions'),
  );
  const [credential, setCredential] = useState('');
  const [endUser, setEndUser] = useState('');
  const [slug, setSlug] = useState(NO_TARGET);
  const [model, setModel] = useState('');
  const [message, setMessage] = useState(DEFAULT_MESSAGE);
  const [call, setCall] = useState<Call>();
  const [error, setError] = useState<unknown>();
  const leaving = useRef<AbortController>(undefined);
  const provider = usable.find((known) => known.slug === slug) ?? usable[0];
  const send = async () => {
    leaving.current?.abort();
    const controller = new AbortController();
    leaving.current = controller;
    setError(undefined);
    setCall(undefined);
    try {
      const afterId = (await newestEvent(id))?.id ?? 0;
      const { status, text, stages } = await streamedCall({
        ...(endpoint === undefined
          ? {
              path: `/v1/apps/${id}/proxy/${provider?.slug}/v1/chat/completions`,
              body: { model, stream: true, messages: [{ role: 'user', content: message }] },
            }
          : { path: `/v1/apps/${id}/endpoints/${endpoint}`, body: { input: message, stream: true } }),
        credential,
        signal: controller.signal,
        ...(header === undefined || endUser === '' ? {} : { headers: { [header]: endUser } }),
        onText: (shown) => setCall({ text: shown, stages: [], afterId }),
      });
      setCall({ status, text, stages, afterId });
    } catch (thrown) {
      if (!controller.signal.aborted) setError(thrown);
    }
  };
  const reason = credential === '' ? `Enter ${isServer ? 'a key' : 'a token'} of this application first.` : undefined;
  return (
    <div className="flex flex-col gap-5">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void send();
        }}
      >
        <TextField
          label={isServer ? 'Application key' : 'Gateway token'}
          type="password"
          autoComplete="off"
          value={credential}
          onChange={setCredential}
          hint={
            isServer
              ? 'It is sent with this call and not stored.'
              : 'A token of a device of this application. It is not stored.'
          }
        />
        {header !== undefined && (
          <TextField label={`User (${header})`} value={endUser} onChange={setEndUser} autoComplete="off" />
        )}
        {endpoint === undefined && (
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label="Provider"
              value={provider?.slug ?? NO_TARGET}
              options={usable.map(({ slug: value, name }) => ({ value, label: name }))}
              onChange={(chosen) => {
                setSlug(chosen);
                setModel('');
              }}
            />
            <ModelField type={provider?.type} model={model} onChange={setModel} />
          </div>
        )}
        <TextArea label="Message" rows={3} value={message} onChange={setMessage} />
        <div>
          <Button look="primary" type="submit" reason={reason}>
            Send
          </Button>
        </div>
      </form>
      {error !== undefined && <Alert>{messageOf(error)}</Alert>}
      {call !== undefined && <Answer call={call} app={id} />}
    </div>
  );
}

function ModelField({
  type,
  model,
  onChange,
}: {
  readonly type: string | undefined;
  readonly model: string;
  readonly onChange: (model: string) => void;
}) {
  const { data: prices } = useQuery(queries.prices());
  const known = Object.keys(prices?.[type ?? ''] ?? {});
  return (
    <>
      <TextField
        label="Model"
        list="models-with-a-price"
        required
        value={model}
        onChange={onChange}
        autoComplete="off"
      />
      <datalist id="models-with-a-price">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Answer({ call: { status, text, stages, afterId }, app }: { readonly call: Call; readonly app: string }) {
  const problem = status === undefined ? undefined : problemOfAnswer(status, text);
  return (
    <section aria-label="Answer" className="flex flex-col gap-4">
      <p className="text-sm text-muted">
        {status === undefined ? (
          'The answer arrives…'
        ) : (
          <>
            Status <strong className={status < 400 ? 'text-good' : 'text-bad'}>{status}</strong>
          </>
        )}
      </p>
      {problem !== undefined && <Alert>{problem.text}</Alert>}
      {text !== '' && (
        <output className="block min-h-16 rounded-md border border-line bg-sunken p-3 break-words whitespace-pre-wrap">
          {text}
        </output>
      )}
      <Waterfall stages={stages} />
      {status !== undefined && <LatestEvent app={app} afterId={afterId} />}
    </section>
  );
}

/** Where the time went, stage after stage. */
function Waterfall({ stages }: { readonly stages: readonly Stage[] }) {
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  if (total === 0) return null;
  const starts = stages.map((_, index) => stages.slice(0, index).reduce((sum, { ms }) => sum + ms, 0));
  return (
    <figure>
      <figcaption className="mb-2 text-sm font-medium">Time in the gateway and at the provider</figcaption>
      <ul className="flex flex-col gap-1 text-xs">
        {stages.map(({ name, ms }, index) => (
          <li key={name} className="grid grid-cols-[9rem_1fr_5rem] items-center gap-2">
            <span className="text-muted">{name}</span>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="h-2 w-full rounded bg-sunken" aria-hidden>
              <title>{name}</title>
              <rect
                x={((starts[index] ?? 0) / total) * 100}
                width={Math.max((ms / total) * 100, 0.5)}
                height="8"
                className="fill-accent"
              />
            </svg>
            <span className="text-right tabular-nums">{ms < 10 ? `${ms.toFixed(2)} ms` : durationText(ms)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
