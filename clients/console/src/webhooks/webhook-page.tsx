import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, read } from '../api/client';
import { queries, type Webhook } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Dialog, TypedConfirmation } from '../design/dialog';
import { Alert, Card, ErrorAlert, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Time } from '../design/time';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { AppName } from './app-choice';
import { Deliveries, REFRESH_MS } from './deliveries';
import { type Delivery, testText } from './delivery.rules';
import { WebhookSecretDialog, WebhookState } from './webhook-facts';
import { type WebhookDraft, WebhookForm } from './webhook-form';

/** One webhook: its events and its deliveries. */
export function WebhookPage({ id }: { readonly id: string }) {
  // A 410 disables it automatically.
  const query = useQuery({ ...queries.webhook(id), refetchInterval: REFRESH_MS });
  return <Loaded query={query}>{(webhook) => <Content webhook={webhook} />}</Loaded>;
}

type Opened = 'change' | 'rotate' | 'disable' | 'delete';

function Content({ webhook }: { readonly webhook: Webhook }) {
  const { id, name, url, enabled } = webhook;
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<Opened>();
  const [tested, setTested] = useState<Delivery>();
  const [secret, setSecret] = useState<string>();
  const { run, error, isBusy } = useSubmit();
  const { data: all } = useQuery(queries.webhooks());
  const params = { path: { id } };
  const close = () => setOpened(undefined);
  const refresh = () => client.invalidateQueries({ queryKey: queries.webhooks().queryKey });
  const test = () =>
    run(async () => {
      setTested(undefined);
      setTested((await read(api.POST('/v1/admin/webhooks/{id}/test', { params }))).delivery);
      await refresh();
    });
  const enable = async (isOn: boolean) => {
    await read(api.PATCH('/v1/admin/webhooks/{id}', { params, body: { enabled: isOn } }));
    await refresh();
    say(isOn ? `${name} is enabled.` : `${name} is disabled.`);
  };
  const change = async (draft: WebhookDraft) => {
    await read(api.PATCH('/v1/admin/webhooks/{id}', { params, body: changedMembers(webhook, draft) }));
    say(`${draft.name} is changed.`);
    close();
  };
  const rotate = async () => {
    const rotated = await read(api.POST('/v1/admin/webhooks/{id}/rotate', { params }));
    setSecret(rotated.secret);
    await refresh();
  };
  const remove = async () => {
    await read(api.DELETE('/v1/admin/webhooks/{id}', { params }));
    client.removeQueries({ queryKey: queries.webhook(id).queryKey });
    navigate('/webhooks');
    await refresh();
    say(`${name} is deleted.`);
  };
  return (
    <>
      <PageHeader
        title={name}
        above={
          <Link href="/webhooks" className="text-sm text-muted hover:text-ink">
            ← Webhooks
          </Link>
        }
        lead={
          <span className="flex flex-wrap items-center gap-2">
            <code className="text-sm break-all">{url}</code>
            <WebhookState webhook={webhook} />
          </span>
        }
        actions={
          <>
            <Button look="primary" reason={reason} isBusy={isBusy} onClick={() => void test()}>
              Send a test
            </Button>
            <Button reason={reason} onClick={() => setOpened('change')}>
              Change
            </Button>
            <Button reason={reason} onClick={() => setOpened('rotate')}>
              Rotate secret
            </Button>
            {enabled && (
              <Button reason={reason} onClick={() => setOpened('disable')}>
                Disable
              </Button>
            )}
            <Button reason={reason} onClick={() => setOpened('delete')}>
              Delete
            </Button>
          </>
        }
      />
      <div className="flex flex-col gap-6">
        {!enabled && <DisabledAlert webhook={webhook} reason={reason} onEnable={() => run(() => enable(true))} />}
        {error !== undefined && <ErrorAlert error={error} />}
        {tested !== undefined && (
          <Alert tone={tested.status === 'delivered' ? 'good' : 'bad'}>{testText(tested)}</Alert>
        )}
        <Facts webhook={webhook} />
        <div>
          <Deliveries webhook={id} isEnabled={enabled} />
        </div>
      </div>
      <Dialog title={`Change ${name}`} isOpen={opened === 'change'} onClose={close}>
        <WebhookForm webhook={webhook} types={all?.event_types ?? []} act="Save" onCancel={close} onSave={change} />
      </Dialog>
      <Question
        title={`Rotate the secret of ${name}?`}
        lead="For 24 hours the old secret and the new one both sign every event, so that the endpoint can switch."
        act="Rotate"
        isOpen={opened === 'rotate'}
        onClose={close}
        onConfirm={rotate}
      />
      <Question
        title={`Disable ${name}?`}
        lead="No further events are sent to it, and pending deliveries are dropped."
        act="Disable"
        isOpen={opened === 'disable'}
        onClose={close}
        onConfirm={() => enable(false)}
      />
      <TypedConfirmation
        title={`Delete ${name}?`}
        lead="Its deliveries are deleted with it, and pending ones are not sent. This cannot be undone."
        phrase={name}
        act="Delete"
        isOpen={opened === 'delete'}
        onClose={close}
        onConfirm={remove}
      />
      <WebhookSecretDialog
        title={`The new secret of ${name}`}
        note="Events are also signed with the old one for 24 hours."
        secret={secret}
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}

/** Only the differences: a deleted application in the filter does not block other changes. */
function changedMembers(webhook: Webhook, draft: WebhookDraft): Partial<WebhookDraft> {
  const changed = Object.entries(draft).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(webhook[name as keyof WebhookDraft]),
  );
  return Object.fromEntries(changed);
}

/** Why nothing is sent, and what to do about it. */
function DisabledAlert({
  webhook: { disabled_reason: cause },
  reason,
  onEnable,
}: {
  readonly webhook: Webhook;
  readonly reason: string | undefined;
  readonly onEnable: () => Promise<void>;
}) {
  return (
    <Alert
      tone="warn"
      actions={
        <Button size="sm" reason={reason} onClick={() => void onEnable()}>
          Enable
        </Button>
      }
    >
      {cause === 'gone'
        ? 'The endpoint answered 410 Gone, so the gateway disabled this webhook. Nothing is sent to it.'
        : 'This webhook is disabled. Nothing is sent to it.'}
    </Alert>
  );
}

function Facts({ webhook }: { readonly webhook: Webhook }) {
  const { events, apps, previous_secret_until: until, created_at: created } = webhook;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ['Events', events === null ? 'Every event' : <Names key="events" names={events.map((type) => [type, type])} />],
    [
      'Applications',
      apps === null ? (
        'All, and events without an application'
      ) : (
        <Names key="apps" names={apps.map((app) => [app, <AppName key={app} id={app} />])} />
      ),
    ],
    ...(until !== null && Date.parse(until) > Date.now()
      ? [
          [
            'Old secret',
            <span key="until">
              signs too until <Time at={until} />
            </span>,
          ] as const,
        ]
      : []),
    ['Added', <Time key="created" at={created} />],
  ];
  return (
    <Card>
      <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[10rem_1fr]">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Names({ names }: { readonly names: readonly (readonly [key: string, text: ReactNode])[] }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {names.map(([key, text]) => (
        <li key={key} className="rounded-md bg-sunken px-1.5 py-0.5 text-xs">
          {text}
        </li>
      ))}
    </ul>
  );
}

/** Asks before an action that cannot be undone but loses nothing. */
function Question({
  title,
  lead,
  act,
  isOpen,
  onClose,
  onConfirm,
}: {
  readonly title: string;
  readonly lead: string;
  readonly act: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<void>;
}) {
  const { run, error, isBusy } = useSubmit();
  const confirm = () =>
    run(async () => {
      await onConfirm();
      onClose();
    });
  return (
    <Dialog title={title} lead={lead} isOpen={isOpen} onClose={onClose}>
      {error !== undefined && <ErrorAlert error={error} />}
      <div className="mt-2 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" isBusy={isBusy} onClick={() => void confirm()}>
          {act}
        </Button>
      </div>
    </Dialog>
  );
}
