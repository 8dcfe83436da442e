import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { memberPath, problemAt } from '../api/api-error';
import { Button } from '../design/button';
import { Card, EmptyState } from '../design/layout';
import { type Column, Table } from '../design/table';
import { useReadOnlyReason } from '../shell/session';
import { DraftForm, useAppDraft } from './app-draft';
import { type Endpoint, STYLES } from './endpoint.rules';
import { EndpointDrawer } from './endpoint-drawer';
import { StreamFields } from './stream-fields';
import { TryIt } from './try-it';

const NONE = '—';

interface Row {
  readonly name: string;
  readonly endpoint: Endpoint;
}

/** The endpoints of the application; each is added and changed in a drawer. */
export function EndpointsTab() {
  const { draft, changeConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const [opened, setOpened] = useState<string>();
  const [tried, setTried] = useState<string>();
  const rows = Object.entries(draft.config.endpoints ?? {}).map(([name, endpoint]) => ({ name, endpoint }));
  const columns: readonly Column<Row>[] = [
    { key: 'name', header: 'Endpoint', cell: (row) => <Name {...row} onOpen={() => setOpened(row.name)} /> },
    { key: 'kind', header: 'Kind', isDetail: true, cell: ({ endpoint }) => labelOfStyle(endpoint) },
    { key: 'target', header: 'Target', cell: ({ endpoint }) => <Targets targets={[endpoint]} /> },
    {
      key: 'fallbacks',
      header: 'Fallbacks',
      isDetail: true,
      cell: ({ endpoint }) => <Targets targets={endpoint.fallback ?? []} />,
    },
    {
      key: 'acts',
      header: 'Actions',
      isNumber: true,
      isLead: true,
      cell: (row) => <Acts {...row} onEdit={() => setOpened(row.name)} onTry={() => setTried(row.name)} />,
    },
  ];
  const add = (
    <Button look="primary" reason={reason} onClick={() => setOpened('')}>
      <Plus size={14} /> New endpoint
    </Button>
  );
  return (
    <div className="flex flex-col gap-6">
      <Card
        title="Endpoints"
        lead="Stable addresses whose provider, model, parameters and fallbacks you can change."
        isFlush
        actions={rows.length > 0 && add}
      >
        {rows.length > 0 ? (
          <Table caption="Endpoints" columns={columns} rows={rows} rowKey={({ name }) => name} />
        ) : (
          <EmptyState title="No endpoint yet" actions={add}>
            Your app calls <code>/endpoints/summarize</code>; which model answers, with which fallback, is decided here.
          </EmptyState>
        )}
      </Card>
      <Card
        title="Resumable answers"
        lead="Answers are kept, sealed, for a while, so that a phone that lost its connection reads on where it stopped, and a repeated call is not paid twice."
      >
        <DraftForm>
          <StreamFields
            streams={draft.config.streams}
            onChange={(streams) => changeConfig({ streams })}
            path="config.streams"
            empty="Empty or 0: nothing is kept."
          />
        </DraftForm>
      </Card>
      {opened !== undefined && <EndpointDrawer key={opened} opened={opened} onClose={() => setOpened(undefined)} />}
      {tried !== undefined && <TryIt isOpen onClose={() => setTried(undefined)} endpoint={tried} />}
    </div>
  );
}

const labelOfStyle = ({ api_style: style }: Endpoint) => STYLES.find(({ value }) => value === style)?.label ?? style;

function Name({ name, onOpen }: Row & { readonly onOpen: () => void }) {
  const { error } = useAppDraft();
  const problem = problemAt(error, memberPath('config.endpoints', name));
  return (
    <span className="block">
      <button type="button" className="text-left font-medium break-all hover:underline" onClick={onOpen}>
        {name}
      </button>
      {problem !== undefined && (
        <span role="alert" className="block text-xs font-medium text-bad">
          {problem}
        </span>
      )}
    </span>
  );
}

function Targets({ targets }: { readonly targets: readonly Pick<Endpoint, 'provider' | 'model'>[] }) {
  if (targets.length === 0) return <span className="text-muted">{NONE}</span>;
  return (
    <span className="flex flex-col gap-0.5">
      {targets.map(({ provider, model }, index) => (
        <span key={String(index)} className="break-words">
          <span className="text-muted">{provider}</span> <code className="text-xs break-all">{model}</code>
        </span>
      ))}
    </span>
  );
}

function Acts({ name, endpoint, onEdit, onTry }: Row & { readonly onEdit: () => void; readonly onTry: () => void }) {
  const { draft, changeConfig, isDirty } = useAppDraft();
  const reason = useReadOnlyReason();
  return (
    <span className="inline-flex items-center gap-1">
      {endpoint.api_style === 'responses' && (
        <Button
          size="sm"
          reason={isDirty ? 'Save first: the call uses the stored configuration.' : undefined}
          onClick={onTry}
        >
          Try it
        </Button>
      )}
      <Button size="sm" look="ghost" onClick={onEdit} aria-label={`Edit ${name}`}>
        <Pencil size={13} />
      </Button>
      <Button
        size="sm"
        look="ghost"
        reason={reason}
        aria-label={`Remove ${name}`}
        onClick={() => {
          const { [name]: _removed, ...others } = draft.config.endpoints ?? {};
          changeConfig({ endpoints: others });
        }}
      >
        <Trash2 size={13} />
      </Button>
    </span>
  );
}
