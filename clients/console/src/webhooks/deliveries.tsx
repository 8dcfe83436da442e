import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, read } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { useAddress, valuesOf } from '../design/address';
import { countText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { CodeBlock } from '../design/copy';
import { Dialog } from '../design/dialog';
import { SelectField } from '../design/field';
import { Badge, Card, EmptyState, ErrorAlert } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { answerText, DELIVERY_STATUSES, type Delivery, markOf } from './delivery.rules';

const PAGE = 50;
const FILTERS = { status: valuesOf(DELIVERY_STATUSES) };
/** How often a visible page is refreshed. */
export const REFRESH_MS = 5_000;

const FACTS: readonly Column<Delivery>[] = [
  {
    key: 'type',
    header: 'Event',
    cell: ({ type, event_id: id }) => (
      <span className="block max-w-72">
        <span className="block truncate font-mono text-sm">{type}</span>
        <span className="block font-mono text-xs break-all text-muted">{id}</span>
      </span>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: (delivery) => {
      const { label, tone } = markOf(delivery);
      return (
        <span className="flex flex-wrap items-center gap-1.5">
          <Badge tone={tone}>{label}</Badge>
          {delivery.next_attempt_at !== null && delivery.attempts > 0 && (
            <span className="text-xs text-muted">
              next <Time at={delivery.next_attempt_at} isRelative />
            </span>
          )}
        </span>
      );
    },
  },
  { key: 'answer', header: 'Last answer', cell: (delivery) => answerText(delivery) },
  {
    key: 'attempts',
    header: 'Attempts',
    isNumber: true,
    isDetail: true,
    cell: ({ attempts }) => countText(attempts),
  },
  { key: 'at', header: 'Created', isDetail: true, cell: ({ created_at: at }) => <Time at={at} /> },
];

/** The deliveries of a webhook, newest first; the status filter is in the address. */
export function Deliveries({ webhook, isEnabled }: { readonly webhook: string; readonly isEnabled: boolean }) {
  const [{ status }, change] = useAddress(FILTERS);
  const client = useQueryClient();
  const say = useToast();
  const readOnly = useReadOnlyReason();
  const reason = readOnly ?? (isEnabled ? undefined : 'The webhook is disabled. Enable it first.');
  const { run, error } = useSubmit();
  const [shown, setShown] = useState<Delivery>();
  const pages = useInfiniteQuery({
    queryKey: [...queries.webhook(webhook).queryKey, 'deliveries', status],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/admin/webhooks/{id}/deliveries', {
          params: {
            path: { id: webhook },
            query: {
              limit: PAGE,
              ...(status === 'any' ? {} : { status }),
              ...(pageParam === undefined ? {} : { before_id: pageParam }),
            },
          },
        }),
      ),
    getNextPageParam: ({ next_before_id: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const columns = useMemo(() => {
    const resend = ({ id, type }: Delivery) =>
      run(async () => {
        const params = { path: { id: webhook, delivery: String(id) } };
        await read(api.POST('/v1/admin/webhooks/{id}/deliveries/{delivery}/resend', { params }));
        await client.invalidateQueries({ queryKey: queries.webhook(webhook).queryKey });
        say(`${type} is sent again.`);
      });
    return [...FACTS, actionColumn(reason, setShown, (delivery) => void resend(delivery))];
  }, [webhook, reason]);
  return (
    <>
      <Card
        title="Deliveries"
        lead="Events of the last 30 days, the newest first. Each keeps its id when it is sent again."
        actions={
          <SelectField
            label="Status"
            isLabelHidden
            value={status}
            options={DELIVERY_STATUSES}
            onChange={(value) => change({ status: value })}
          />
        }
        isFlush
      >
        {error !== undefined && <ErrorAlert error={error} />}
        <Loaded query={pages} rows={6}>
          {(data) => (
            <Rows deliveries={data.pages.flatMap((page) => page.deliveries)} columns={columns} status={status} />
          )}
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
      <Dialog
        title={shown?.type ?? 'Delivery'}
        lead={shown && `${markOf(shown).label}. Last answer: ${answerText(shown)}.`}
        isOpen={shown !== undefined}
        onClose={() => setShown(undefined)}
        isDrawer
      >
        {shown && <Body webhook={webhook} delivery={shown} />}
      </Dialog>
    </>
  );
}

/** What each attempt sends. */
function Body({
  webhook,
  delivery: { id, event_id: event },
}: {
  readonly webhook: string;
  readonly delivery: Delivery;
}) {
  const query = useQuery({
    queryKey: [...queries.webhook(webhook).queryKey, 'delivery', id],
    queryFn: () =>
      read(
        api.GET('/v1/admin/webhooks/{id}/deliveries/{delivery}', {
          params: { path: { id: webhook, delivery: String(id) } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock label="webhook-id" code={event} />
      <Loaded query={query} rows={6}>
        {({ body }) => <CodeBlock label="Body" code={JSON.stringify(JSON.parse(body), null, 2)} />}
      </Loaded>
    </div>
  );
}

function Rows({
  deliveries,
  columns,
  status,
}: {
  readonly deliveries: readonly Delivery[];
  readonly columns: readonly Column<Delivery>[];
  readonly status: string;
}) {
  if (deliveries.length > 0) {
    return <Table caption="Deliveries" columns={columns} rows={deliveries} rowKey={({ id }) => String(id)} />;
  }
  return status === 'any' ? (
    <EmptyState title="No deliveries yet">Send a test event, or wait for something to happen.</EmptyState>
  ) : (
    <EmptyState title="No results">No delivery has this status.</EmptyState>
  );
}

function actionColumn(
  reason: string | undefined,
  show: (delivery: Delivery) => void,
  resend: (delivery: Delivery) => void,
): Column<Delivery> {
  return {
    key: 'acts',
    header: 'Actions',
    isLead: true,
    isNumber: true,
    cell: (delivery) => (
      <span className="flex justify-end gap-1.5">
        <Button size="sm" aria-label={`Show ${delivery.type} ${delivery.id}`} onClick={() => show(delivery)}>
          Show
        </Button>
        <Button
          size="sm"
          reason={reason}
          aria-label={`Resend ${delivery.type} ${delivery.id}`}
          onClick={() => resend(delivery)}
        >
          Resend
        </Button>
      </span>
    ),
  };
}
