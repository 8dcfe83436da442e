import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { countText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { Dialog, TypedConfirmation } from '../design/dialog';
import { SelectField, TextField } from '../design/field';
import { Alert, Badge, Card, EmptyState, ErrorAlert, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { type Verdict, verdictOf } from './probe.rules';

type Gateway = Schemas['CfAigProviderGateway'] | Schemas['VercelProviderGateway'];

const LABELS: Readonly<Record<Gateway['type'], string>> = {
  cf_aig: 'Cloudflare AI Gateway',
  vercel: 'Vercel AI Gateway',
};
const TYPE_OPTIONS = (Object.keys(LABELS) as Gateway['type'][]).map((value) => ({ value, label: LABELS[value] }));

export function GatewaysPage() {
  const query = useQuery(queries.gateways());
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const [isAdding, setAdding] = useState(false);
  const [rotating, setRotating] = useState<Gateway>();
  const [deleting, setDeleting] = useState<Gateway>();
  const columns: readonly Column<Gateway>[] = [
    { key: 'name', header: 'Gateway', cell: ({ name }) => <span className="font-medium break-words">{name}</span> },
    { key: 'type', header: 'Type', cell: ({ type }) => <Badge>{LABELS[type]}</Badge> },
    { key: 'token', header: 'Token', isDetail: true, cell: ({ secretHint }) => <code>…{secretHint}</code> },
    {
      key: 'providers',
      header: 'Providers',
      isNumber: true,
      cell: ({ referencedCount }) => countText(referencedCount),
    },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (gateway) => (
        <span className="inline-flex gap-2">
          <Button size="sm" reason={reason} aria-label={`Rotate ${gateway.name}`} onClick={() => setRotating(gateway)}>
            Rotate
          </Button>
          <Button
            size="sm"
            reason={reason ?? (gateway.referencedCount > 0 ? 'Providers are routed through it.' : undefined)}
            aria-label={`Delete ${gateway.name}`}
            onClick={() => setDeleting(gateway)}
          >
            Delete
          </Button>
        </span>
      ),
    },
  ];
  const remove = async ({ id, name }: Gateway) => {
    await read(api.DELETE('/v1/admin/provider-gateways/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: queries.gateways().queryKey });
    say(`${name} is deleted.`);
  };
  return (
    <>
      <PageHeader
        title="Upstream gateways"
        above={
          <Link href="/providers" className="text-sm text-muted hover:text-ink">
            ← Providers
          </Link>
        }
        lead="One encrypted token for all providers that you reach through Cloudflare or Vercel."
        actions={
          <Button look="primary" reason={reason} onClick={() => setAdding(true)}>
            Add gateway
          </Button>
        }
      />
      <Card isFlush>
        <Loaded query={query}>
          {(gateways) =>
            gateways.length === 0 ? (
              <EmptyState title="No upstream gateways yet">
                You need one only if your providers are behind such a service.
              </EmptyState>
            ) : (
              <Table caption="Upstream gateways" columns={columns} rows={gateways} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      <Dialog title="Add an upstream gateway" isOpen={isAdding} onClose={() => setAdding(false)}>
        <GatewayForm onDone={() => setAdding(false)} />
      </Dialog>
      {rotating !== undefined && <RotateDialog gateway={rotating} onClose={() => setRotating(undefined)} />}
      {deleting !== undefined && (
        <TypedConfirmation
          title={`Delete ${deleting.name}?`}
          lead="Its token is deleted."
          phrase={deleting.name}
          act="Delete"
          isOpen
          onClose={() => setDeleting(undefined)}
          onConfirm={() => remove(deleting)}
        />
      )}
    </>
  );
}

function GatewayForm({ onDone }: { readonly onDone: () => void }) {
  const client = useQueryClient();
  const [type, setType] = useState<Gateway['type']>('cf_aig');
  const [name, setName] = useState('');
  const [token, setToken] = useState('');
  const [accountId, setAccountId] = useState('');
  const [gatewayId, setGatewayId] = useState('');
  const [error, setError] = useState<unknown>();
  const [tested, setTested] = useState<{ readonly verdict: Verdict; readonly of: string }>();
  const own = type === 'cf_aig' ? ({ type, token, accountId, gatewayId } as const) : ({ type, token } as const);
  const verdict = tested?.of === JSON.stringify(own) ? tested.verdict : undefined;
  const run = async (work: () => Promise<void>) => {
    setError(undefined);
    await work().catch(setError);
  };
  const test = () =>
    run(async () => {
      const outcome = await read(api.POST('/v1/admin/provider-gateways/test', { body: own }));
      setTested({ verdict: verdictOf(outcome, LABELS[type], 'token'), of: JSON.stringify(own) });
    });
  const add = () =>
    run(async () => {
      await read(api.POST('/v1/admin/provider-gateways', { body: { ...own, name: name || LABELS[type] } }));
      await client.invalidateQueries({ queryKey: queries.gateways().queryKey });
      onDone();
    });
  const isAtField = ['name', 'token', 'accountId', 'gatewayId'].some((field) => problemAt(error, field) !== undefined);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <SelectField label="Type" value={type} options={TYPE_OPTIONS} onChange={setType} />
      <TextField
        label="Name"
        placeholder={LABELS[type]}
        value={name}
        onChange={setName}
        error={problemAt(error, 'name')}
      />
      <TextField
        label="Token"
        type="password"
        autoComplete="off"
        required
        value={token}
        onChange={setToken}
        error={problemAt(error, 'token') ?? (verdict?.isRefused ? verdict.text : undefined)}
      />
      {type === 'cf_aig' && (
        <>
          <TextField
            label="Account ID"
            required
            value={accountId}
            onChange={setAccountId}
            error={problemAt(error, 'accountId')}
          />
          <TextField
            label="Gateway ID"
            required
            value={gatewayId}
            onChange={setGatewayId}
            error={problemAt(error, 'gatewayId')}
          />
        </>
      )}
      {verdict !== undefined && !verdict.isRefused && <Alert tone={verdict.tone}>{verdict.text}</Alert>}
      {error !== undefined && !isAtField && <ErrorAlert error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={() => void test()}>Test</Button>
        <Button look="primary" type="submit">
          {verdict?.isRefused ? 'Create anyway' : 'Create'}
        </Button>
      </div>
    </form>
  );
}

function RotateDialog({ gateway, onClose }: { readonly gateway: Gateway; readonly onClose: () => void }) {
  const client = useQueryClient();
  const say = useToast();
  const [token, setToken] = useState('');
  const [tested, setTested] = useState<{ readonly verdict: Verdict; readonly of: string }>();
  const { run, error, isBusy } = useSubmit();
  const verdict = tested?.of === token ? tested.verdict : undefined;
  const save = async () => {
    const params = { path: { id: gateway.id } };
    const body = { token, revision: gateway.revision };
    await read(api.POST('/v1/admin/provider-gateways/{id}/rotate', { params, body }));
    await client.invalidateQueries({ queryKey: queries.gateways().queryKey });
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    say(`${gateway.name} has its new token.`);
    onClose();
  };
  const testAndSave = () =>
    run(async () => {
      const body =
        gateway.type === 'cf_aig' ? { type: gateway.type, token, ...gateway.config } : { type: gateway.type, token };
      const found = verdictOf(
        await read(api.POST('/v1/admin/provider-gateways/test', { body })),
        gateway.name,
        'token',
      );
      setTested({ verdict: found, of: token });
      if (found.isAccepted) await save();
    });
  const isKept = verdict !== undefined && !verdict.isAccepted;
  const problem = problemAt(error, 'token');
  return (
    <Dialog
      title={`Rotate ${gateway.name}`}
      lead="The new token is tested with one free call and stored if the gateway accepts it. Calls in progress finish with the old one."
      isOpen
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void testAndSave();
        }}
      >
        <TextField
          label="New token"
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={setToken}
          error={problem ?? (verdict?.isRefused ? verdict.text : undefined)}
        />
        {isKept && (
          <Alert tone={verdict.tone}>
            {verdict.isRefused ? '' : `${verdict.text} `}Nothing is stored: the old token stays in use.
          </Alert>
        )}
        {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          {isKept && (
            <Button isBusy={isBusy} onClick={() => void run(save)}>
              {verdict.isRefused ? 'Save the refused token' : 'Save without a test'}
            </Button>
          )}
          <Button look="primary" type="submit" isBusy={isBusy}>
            Test and save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
