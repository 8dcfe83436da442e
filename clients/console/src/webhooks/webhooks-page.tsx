import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, read } from '../api/client';
import { queries, type Webhook } from '../api/queries';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { Card, EmptyState, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Day } from '../design/time';
import { useReadOnlyReason } from '../shell/session';
import { filterText, WebhookSecretDialog, WebhookState } from './webhook-facts';
import { type WebhookDraft, WebhookForm } from './webhook-form';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    key: 'name',
    header: 'Webhook',
    cell: ({ id, name, url }) => (
      <Link href={`/webhooks/${id}`} className="group block max-w-56 md:max-w-80">
        <span className="block truncate font-medium group-hover:text-accent group-hover:underline">{name}</span>
        <span className="block truncate font-mono text-xs text-muted">{url}</span>
      </Link>
    ),
  },
  {
    key: 'events',
    header: 'Events',
    isDetail: true,
    cell: ({ events }) => (
      <span title={events?.join(', ')}>{filterText(events, 'Every event', events?.[0] ?? '', 'types')}</span>
    ),
  },
  {
    key: 'apps',
    header: 'Applications',
    isDetail: true,
    cell: ({ apps }) => filterText(apps, 'All', '1 application', 'applications'),
  },
  { key: 'created', header: 'Added', isDetail: true, cell: ({ created_at: at }) => <Day at={at} /> },
  { key: 'state', header: 'Status', isLead: true, cell: (webhook) => <WebhookState webhook={webhook} /> },
];

export function WebhooksPage() {
  const query = useQuery(queries.webhooks());
  const reason = useReadOnlyReason();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const create = async ({ url, name, events, apps }: WebhookDraft) => {
    const body = { url, events, apps, ...(name === '' ? {} : { name }) };
    const created = await read(api.POST('/v1/admin/webhooks', { body }));
    setAdding(false);
    setSecret(created.secret);
  };
  const add = (
    <Button look="primary" reason={reason} onClick={() => setAdding(true)}>
      Add webhook
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        lead="Your endpoints that receive the events of this account, signed and with retries for three days."
        actions={add}
      />
      <Card isFlush>
        <Loaded query={query}>
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <EmptyState title="No webhooks yet" actions={add}>
                Add an https endpoint, and choose its events: new and revoked keys, members, changed applications and
                more.
              </EmptyState>
            ) : (
              <Table caption="Webhooks" columns={COLUMNS} rows={webhooks} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      <Dialog
        title="Add a webhook"
        lead="Its secret is shown once, when it is created."
        isOpen={isAdding}
        onClose={() => setAdding(false)}
      >
        <WebhookForm
          types={query.data?.event_types ?? []}
          act="Create"
          onCancel={() => setAdding(false)}
          onSave={create}
        />
      </Dialog>
      <WebhookSecretDialog title="The webhook is created" secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}
