import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { useSubmit } from '../api/use-submit';
import { AppField } from '../apps/app-field';
import { useAddress, valuesOf } from '../design/address';
import { Button } from '../design/button';
import { useDebounced } from '../design/debounced';
import { SelectField } from '../design/field';
import { Badge, Card, EmptyState, ErrorAlert, PageHeader } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { exportTrail } from './audit-export';
import { filtersOf, TIMES } from './audit-filters.rules';
import { actionText, sentenceOf } from './audit-sentence.rules';
import { detailsText, furtherDetails, valueText } from './audit-values.rules';

type AuditEvent = Schemas['AuditEventResponse'];

const PAGE = 50;
const FILTERS = { action: '', person: '', time: valuesOf(TIMES), app: '' };
/** Changes of an entry that are shown before the rest is expanded. */
const MOST_SHOWN = 8;

const SOURCES: Readonly<Record<AuditEvent['actor']['action_source'], string>> = {
  web: 'console',
  api: 'API',
  cli: 'terminal',
  mcp: 'AI client',
  system: 'gateway',
};

const COLUMNS: readonly Column<AuditEvent>[] = [
  { key: 'at', header: 'Time', cell: ({ created_at: at }) => <Time at={at} /> },
  {
    key: 'who',
    header: 'Who',
    cell: ({ actor }) => (
      <span className="block max-w-48">
        <span className="block truncate">{actor.name ?? actor.id}</span>
        <Badge>{SOURCES[actor.action_source]}</Badge>
      </span>
    ),
  },
  {
    key: 'what',
    header: 'What',
    cell: (event) => (
      <div className="max-w-xl min-w-56">
        <p className="break-words">{sentenceOf(event)}</p>
        <code className="block truncate text-xs text-muted">{event.target.id}</code>
        <Changes changes={event.changes} />
      </div>
    ),
  },
  {
    key: 'details',
    header: 'Details',
    isDetail: true,
    cell: (event) => {
      const text = detailsText(furtherDetails(event));
      return text === '' ? null : (
        <code className="block max-w-64 truncate text-xs text-muted" title={text}>
          {text}
        </code>
      );
    },
  },
];

/** Old and new values, a line each. */
function Changes({ changes }: Pick<AuditEvent, 'changes'>) {
  const [isWhole, setWhole] = useState(false);
  if (changes.length === 0) return null;
  const rest = isWhole ? 0 : changes.length - MOST_SHOWN;
  return (
    <div className="mt-1">
      <ul className="flex flex-col gap-0.5 text-xs">
        {(rest > 0 ? changes.slice(0, MOST_SHOWN) : changes).map((change) => (
          <li key={change.path} className="break-words">
            <code className="text-muted">{change.path}</code>{' '}
            {change.redacted ? (
              <span className="text-muted">changed; values are not recorded</span>
            ) : (
              <>
                <del className="text-muted">{valueText(change, 'from')}</del> → <ins>{valueText(change, 'to')}</ins>
              </>
            )}
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Button size="sm" look="ghost" onClick={() => setWhole(true)}>
          Show {rest} more changes
        </Button>
      )}
    </div>
  );
}

export function AuditPage() {
  const [{ action, person, time, app }, filter] = useAddress(FILTERS);
  const settledApp = useDebounced(app.trim());
  const filters = filtersOf({ action, person, time, app: settledApp }, Date.now());
  const { data: facets } = useQuery({
    queryKey: ['audit', 'facets'],
    queryFn: () => read(api.GET('/v1/admin/audit-events/facets')),
  });
  const pages = useInfiniteQuery({
    queryKey: ['audit', 'events', filters],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/v1/admin/audit-events', {
          params: { query: { limit: PAGE, ...filters, ...(pageParam === undefined ? {} : { before_id: pageParam }) } },
        }),
      ),
    getNextPageParam: ({ next_before_id: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const { run, error: problem, isBusy } = useSubmit();
  const isEmpty = pages.data?.pages[0]?.events.length === 0;
  const actions = (facets?.actions ?? []).map((value) => ({ value, label: actionText(value) }));
  const people = (facets?.actors ?? []).map(({ id, name }) => ({ value: id, label: name ?? id }));
  return (
    <>
      <PageHeader
        title="Audit trail"
        lead="Who changed what, when and how. Kept for 90 days."
        actions={
          <Button
            isBusy={isBusy}
            reason={isEmpty ? 'There is nothing to export.' : undefined}
            onClick={() => void run(() => exportTrail(filters))}
          >
            Export CSV
          </Button>
        }
      />
      {problem !== undefined && <ErrorAlert error={problem} />}
      <Card isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <SelectField
            label="Action"
            value={action}
            options={optionsOf('Every action', actions, action)}
            onChange={(value) => filter({ action: value })}
            className="max-w-64"
          />
          <SelectField
            label="Person"
            value={person}
            options={optionsOf('Everybody', people, person)}
            onChange={(value) => filter({ person: value })}
            className="max-w-64"
          />
          <SelectField label="Time" value={time} options={TIMES} onChange={(value) => filter({ time: value })} />
          <AppField label="Application" id={app} search={settledApp} onChange={(text) => filter({ app: text })} />
        </div>
        <Loaded query={pages} rows={8} isOld={settledApp !== app.trim() || pages.isPlaceholderData}>
          {(data) => <Events events={data.pages.flatMap((page) => page.events)} />}
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
    </>
  );
}

function Events({ events }: { readonly events: readonly AuditEvent[] }) {
  if (events.length === 0) return <EmptyState title="No entries">No entry matches.</EmptyState>;
  return <Table caption="Audit trail" columns={COLUMNS} rows={events} rowKey={({ id }) => String(id)} />;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** By label. The value in the address can be chosen even if it does not occur. */
function optionsOf(everything: string, known: readonly Choice[], asked: string): readonly Choice[] {
  const isKnown = asked === '' || known.some(({ value }) => value === asked);
  const choices = [...known, ...(isKnown ? [] : [{ value: asked, label: asked }])];
  return [{ value: '', label: everything }, ...choices.sort((one, other) => one.label.localeCompare(other.label))];
}
