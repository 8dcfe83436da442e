import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { type Provider, queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { durationText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { SelectField, TextArea, TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { ModelField } from '../models/model-field';
import { useReadOnlyReason } from '../shell/session';
import { LatestEvent, newestEvent } from '../usage/latest-event';
import { useAppDraft } from './app-draft';
import { problemOfAnswer } from './call-problem.rules';
import { useOneTimeKey } from './one-time-key';
import { eventOfReply, messagesOf, type Reply, type Target, type Turn } from './playground.rules';
import type { Stage } from './stream-text.rules';
import { streamedCall } from './streamed-call';

const DEFAULT_MESSAGE = 'Say good morning in three languages.';
/** The most columns side by side. */
const MOST_TARGETS = 2;
const NAMES = ['', 'second '] as const;

/**
 * Sends real calls as a caller of the application would, turn after turn. Keys stay in this panel and are discarded
 * with it.
 */
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
      lead="Real calls through the gateway: checked, limited, priced and recorded like any other."
      isOpen={isOpen}
      onClose={onClose}
      isDrawer
      isWide={endpoint === undefined}
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
  const oneTime = useOneTimeKey(id);
  const [typed, setTyped] = useState('');
  const [endUser, setEndUser] = useState('');
  const [chosen, setChosen] = useState<readonly Target[]>([{ slug: '', model: '' }]);
  const [message, setMessage] = useState(DEFAULT_MESSAGE);
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const leaving = useRef<AbortController>(undefined);
  const { run, error, isBusy } = useSubmit();
  const credential = oneTime.key?.secret ?? typed;
  const targets =
    endpoint === undefined
      ? chosen.map((one) => ({
          ...one,
          slug: usable.some(({ slug }) => slug === one.slug) ? one.slug : (usable[0]?.slug ?? ''),
        }))
      : [{ slug: '', model: '' }];
  const ask = async (target: Target, column: number, signal: AbortSignal) => {
    const show = (reply: Omit<Reply, 'target'>) =>
      setTurns((before) => withReply(before, column, { ...reply, target }));
    const messages = messagesOf(turns, column, message);
    const answer = await streamedCall({
      ...(endpoint === undefined
        ? {
            path: `/v1/apps/${id}/proxy/${target.slug}/v1/chat/completions`,
            body: { model: target.model, stream: true, messages },
          }
        : { path: `/v1/apps/${id}/endpoints/${endpoint}`, body: { input: messages, stream: true } }),
      credential,
      signal,
      ...(header === undefined || endUser === '' ? {} : { headers: { [header]: endUser } }),
      onText: (text) => show({ text, stages: [] }),
    });
    show(answer);
  };
  const send = () =>
    run(async () => {
      const controller = new AbortController();
      leaving.current = controller;
      const afterId = (await newestEvent(id))?.id ?? 0;
      const replies = targets.map((target) => ({ target, text: '', stages: [] }));
      setTurns([...turns, { message, afterId, replies }]);
      setMessage('');
      try {
        await Promise.all(targets.map((target, column) => ask(target, column, controller.signal)));
      } catch (thrown) {
        if (!controller.signal.aborted) throw thrown;
      }
    });
  const clear = () => {
    leaving.current?.abort();
    setTurns([]);
    setMessage(DEFAULT_MESSAGE);
  };
  const missing =
    credential === ''
      ? `Enter ${isServer ? 'a key' : 'a token'} of this application first.`
      : message.trim() === ''
        ? 'Write a message first.'
        : undefined;
  return (
    <div className="flex flex-col gap-5">
      <Credential
        isServer={isServer}
        typed={typed}
        onType={setTyped}
        isMade={oneTime.key !== undefined}
        onMake={oneTime.make}
      />
      {header !== undefined && (
        <TextField label={`User (${header})`} value={endUser} onChange={setEndUser} autoComplete="off" />
      )}
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined && !isBusy) void send();
        }}
      >
        {endpoint === undefined && (
          <Targets
            targets={targets}
            usable={usable}
            onChange={(next) => {
              setChosen(next);
              // Each column is a separate conversation; changing their number starts new ones.
              if (next.length !== targets.length) clear();
            }}
          />
        )}
        {turns.map((turn, index) => (
          <TurnView key={String(index)} app={id} turn={turn} name={`${index}`} keyId={oneTime.key?.id} />
        ))}
        {/* A new one for each turn: what was sent is not lost, so closing the panel does not ask about it. */}
        <TextArea key={turns.length} label="Message" rows={3} value={message} onChange={setMessage} />
        {error !== undefined && <ErrorAlert error={error} />}
        <div className="flex gap-2">
          <Button look="primary" type="submit" reason={missing} isBusy={isBusy}>
            Send
          </Button>
          {turns.length > 0 && <Button onClick={clear}>New conversation</Button>}
        </div>
      </form>
    </div>
  );
}

/** The last turn with one more piece of a reply; nothing if the conversation was cleared in the meantime. */
function withReply(turns: readonly Turn[], column: number, reply: Reply): readonly Turn[] {
  return turns.map((turn, at) =>
    at === turns.length - 1
      ? { ...turn, replies: turn.replies.map((own, index) => (index === column ? reply : own)) }
      : turn,
  );
}

function Credential({
  isServer,
  typed,
  onType,
  isMade,
  onMake,
}: {
  readonly isServer: boolean;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly isMade: boolean;
  readonly onMake: () => Promise<void>;
}) {
  const reason = useReadOnlyReason();
  const { run, error, isBusy } = useSubmit();
  if (isMade) {
    return (
      <p className="text-sm text-muted" role="status">
        Calls with a one-time key of this application. It is revoked when you close this panel.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-start gap-2">
        <TextField
          label={isServer ? 'Application key' : 'Gateway token'}
          type="password"
          autoComplete="off"
          value={typed}
          onChange={onType}
          hint={
            isServer
              ? 'It is sent with these calls and not stored.'
              : 'A token of a device of this application. It is not stored.'
          }
          className="min-w-52 flex-1"
        />
        {isServer && (
          <Button size="row" reason={reason} isBusy={isBusy} onClick={() => void run(onMake)}>
            Use a one-time key
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorAlert error={error} />}
    </div>
  );
}

/** One model, or two side by side. */
function Targets({
  targets,
  usable,
  onChange,
}: {
  readonly targets: readonly Target[];
  readonly usable: readonly Provider[];
  readonly onChange: (targets: readonly Target[]) => void;
}) {
  const replace = (column: number, target: Target) =>
    onChange(targets.map((own, at) => (at === column ? target : own)));
  const labelOf = (what: string, column: number) => {
    const label = `${NAMES[column] ?? ''}${what}`;
    return label.charAt(0).toUpperCase() + label.slice(1);
  };
  return (
    <div className="grid gap-4 md:grid-cols-2">
      {targets.map(({ slug, model }, column) => (
        <div key={String(column)} className="grid grid-cols-[1fr_1fr_auto] items-start gap-2">
          <SelectField
            label={labelOf('provider', column)}
            value={slug}
            options={usable.map(({ slug: value, name }) => ({ value, label: name }))}
            onChange={(next) => replace(column, { slug: next, model: '' })}
          />
          <ModelField
            label={labelOf('model', column)}
            model={model}
            providers={usable.filter((provider) => provider.slug === slug)}
            onChange={(next) => replace(column, { slug, model: next })}
            required
          />
          {column > 0 && (
            <Button
              size="row"
              look="ghost"
              aria-label="Remove the second model"
              onClick={() => onChange(targets.slice(0, column))}
            >
              <X size={14} />
            </Button>
          )}
        </div>
      ))}
      {targets.length < MOST_TARGETS && usable.length > 0 && (
        <div>
          <Button size="row" onClick={() => onChange([...targets, { slug: targets[0]?.slug ?? '', model: '' }])}>
            <Plus size={13} /> Compare with a second model
          </Button>
        </div>
      )}
    </div>
  );
}

function TurnView({
  app,
  turn: { message, afterId, replies },
  name,
  keyId,
}: {
  readonly app: string;
  readonly turn: Turn;
  readonly name: string;
  readonly keyId: string | undefined;
}) {
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-prose self-end rounded-md bg-accent-soft px-3 py-2 break-words whitespace-pre-wrap">
        {message}
      </p>
      <div className={replies.length > 1 ? 'grid gap-4 md:grid-cols-2' : undefined}>
        {replies.map((reply, column) => (
          <Answer key={String(column)} reply={reply}>
            <LatestEvent
              app={app}
              name={`${name} ${column} ${afterId}`}
              find={(events) => eventOfReply(events, replies, column, { afterId, keyId })}
            />
          </Answer>
        ))}
      </div>
    </div>
  );
}

function Answer({
  reply: { target, status, text, stages },
  children,
}: {
  readonly reply: Reply;
  /** Its recorded event, when available. */
  readonly children: ReactNode;
}) {
  const problem = status === undefined ? undefined : problemOfAnswer(status, text);
  return (
    <section
      aria-label={`Answer${target.model === '' ? '' : ` of ${target.model}`}`}
      className="flex min-w-0 flex-col gap-3"
    >
      <p className="text-sm text-muted">
        {target.model !== '' && <code className="break-all">{target.model} </code>}
        {status === undefined ? (
          'Receiving the answer…'
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
      {status !== undefined && children}
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
      <figcaption className="mb-2 text-sm font-medium">Time spent in the gateway and at the provider</figcaption>
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
