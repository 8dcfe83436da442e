import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, read } from '../api/client';
import { type AppSummary, type Provider, queries } from '../api/queries';
import { countText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { Dialog, TypedConfirmation } from '../design/dialog';
import { Badge, Card, EmptyState, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { ChangeProvider } from './change-provider';
import { NewProvider } from './new-provider';
import { PricesDialog } from './prices-dialog';

/** Applications that a question of deletion names one by one. */
const MOST_NAMED = 5;

export function ProvidersPage() {
  const query = useQuery(queries.providers());
  const reason = useReadOnlyReason();
  const [isAdding, setAdding] = useState(false);
  const [changing, setChanging] = useState<Provider>();
  const [deleting, setDeleting] = useState<Provider>();
  const [priced, setPriced] = useState<Provider>();
  return (
    <>
      <PageHeader
        title="Providers"
        lead="Their keys are sealed here: neither applications nor people can read them."
        actions={
          <>
            <Link href="/providers/gateways" className="text-sm text-accent underline">
              Upstream gateways
            </Link>
            <Button look="primary" reason={reason} onClick={() => setAdding(true)}>
              Add provider
            </Button>
          </>
        }
      />
      <Card isFlush>
        <Loaded query={query} rows={6}>
          {(providers) =>
            providers.length === 0 ? (
              <EmptyState
                title="No provider yet"
                actions={
                  <Button look="primary" reason={reason} onClick={() => setAdding(true)}>
                    Add provider
                  </Button>
                }
              >
                Add the key of OpenAI, Anthropic, Gemini or another provider. Applications call it through the gateway.
              </EmptyState>
            ) : (
              <Table
                caption="Providers"
                columns={columnsOf({ price: setPriced, change: setChanging, remove: setDeleting }, reason)}
                rows={providers}
                rowKey={({ id }) => id}
              />
            )
          }
        </Loaded>
      </Card>
      <Dialog
        title="Add a provider"
        lead="The key is sealed before it is stored. Nothing is sent to the provider until you test it or an app calls."
        isOpen={isAdding}
        onClose={() => setAdding(false)}
      >
        <NewProvider onDone={() => setAdding(false)} />
      </Dialog>
      {changing !== undefined && <ChangeProvider provider={changing} onClose={() => setChanging(undefined)} />}
      {priced !== undefined && <PricesDialog provider={priced} onClose={() => setPriced(undefined)} />}
      {deleting !== undefined && <DeleteProvider provider={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

function columnsOf(
  { price, change, remove }: Readonly<Record<'price' | 'change' | 'remove', (provider: Provider) => void>>,
  reason: string | undefined,
): readonly Column<Provider>[] {
  return [
    {
      key: 'name',
      header: 'Provider',
      cell: ({ name, slug }) => (
        <span className="block max-w-64">
          <span className="block truncate font-medium">{name}</span>
          <code className="block truncate text-xs text-muted">{slug}</code>
        </span>
      ),
    },
    {
      key: 'type',
      header: 'Type',
      cell: ({ type, status, baseUrl, pricing }) => (
        <span className="flex flex-wrap gap-1.5">
          <Badge tone={isSimulated(type) ? 'accent' : 'neutral'}>{isSimulated(type) ? 'Simulated' : type}</Badge>
          {status === 'disabled' && <Badge tone="warn">Disabled</Badge>}
          {baseUrl !== null && <Badge>Own address</Badge>}
          {pricing !== null && <Badge>Own prices</Badge>}
        </span>
      ),
    },
    {
      key: 'credential',
      header: 'Credential',
      isDetail: true,
      cell: ({ secretHint, route }) =>
        secretHint === null ? (
          <span className="text-muted">by {route ?? 'its gateway'}</span>
        ) : (
          <code>…{secretHint}</code>
        ),
    },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (provider) => (
        <span className="inline-flex gap-2">
          <Button size="sm" look="ghost" aria-label={`Prices of ${provider.name}`} onClick={() => price(provider)}>
            Prices
          </Button>
          <Button size="sm" aria-label={`Change ${provider.name}`} onClick={() => change(provider)}>
            Change
          </Button>
          <Button size="sm" reason={reason} aria-label={`Delete ${provider.name}`} onClick={() => remove(provider)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
}

/** Answers of this type are made up by the gateway itself. */
export function isSimulated(type: string): boolean {
  return type === 'simulated';
}

function lossOf(users: readonly AppSummary[]): string {
  const names = users.slice(0, MOST_NAMED).map(({ name }) => name);
  if (users.length === 0) return 'No application names it.';
  const rest = users.length > MOST_NAMED ? ' and others' : '';
  return `${countText(users.length)} ${users.length === 1 ? 'application names' : 'applications name'} it and lose it: ${names.join(', ')}${rest}.`;
}

function DeleteProvider({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const client = useQueryClient();
  const say = useToast();
  const { data: list } = useQuery(queries.apps());
  const users = list?.apps.filter(({ referenced_providers: named }) => named.includes(provider.slug));
  const remove = async () => {
    await read(api.DELETE('/v1/admin/providers/{id}', { params: { path: { id: provider.id } } }));
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    say(`${provider.name} is deleted.`);
  };
  return (
    <TypedConfirmation
      title={`Delete ${provider.name}?`}
      lead={`Its key is destroyed. ${users === undefined ? 'Looking for applications that name it …' : lossOf(users)}`}
      phrase={provider.slug}
      act="Delete"
      isOpen
      onClose={onClose}
      onConfirm={remove}
    />
  );
}
