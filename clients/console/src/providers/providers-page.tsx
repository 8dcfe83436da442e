import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { messageOf } from '../api/api-error';
import { api, read } from '../api/client';
import { type Provider, queries, type UsedProvider } from '../api/queries';
import { countText } from '../design/amounts.rules';
import { Button, ButtonLink } from '../design/button';
import { Dialog, TypedConfirmation } from '../design/dialog';
import { Badge, Card, EmptyState, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { ChangeProvider } from './change-provider';
import { NewProvider } from './new-provider';
import { markOf } from './probe.rules';
import { testedBy } from './provider-test';
import { callsText, lossOf, successText } from './provider-use.rules';
import { RotateProvider } from './rotate-provider';

export function ProvidersPage() {
  const query = useQuery(queries.providers());
  const reason = useReadOnlyReason();
  const [isAdding, setAdding] = useState(false);
  const [changing, setChanging] = useState<Provider>();
  const [deleting, setDeleting] = useState<Provider>();
  const [rotating, setRotating] = useState<Provider>();
  const [testing, setTesting] = useState<string>();
  const { data: usage } = useQuery(queries.providerUsage());
  const client = useQueryClient();
  const say = useToast();
  const test = async (provider: Provider) => {
    const { id, name } = provider;
    setTesting(id);
    const text = await testedBy(provider, name).then((verdict) => verdict.text, messageOf);
    const said = text.includes(name) ? text : `${name}: ${text}`;
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    setTesting(undefined);
    say(said);
  };
  return (
    <>
      <PageHeader
        title="Providers"
        lead="Provider keys are encrypted here. Neither applications nor people can read them."
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
                title="No providers yet"
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
                columns={[
                  ...factColumns(usage),
                  actionColumn(
                    {
                      test: (one) => void test(one),
                      rotate: setRotating,
                      change: setChanging,
                      remove: setDeleting,
                    },
                    { reason, testing },
                  ),
                ]}
                rows={providers}
                rowKey={({ id }) => id}
              />
            )
          }
        </Loaded>
      </Card>
      <Dialog
        title="Add a provider"
        lead="The key is encrypted before it is stored. Nothing is sent to the provider until you test it or an application calls it."
        isOpen={isAdding}
        onClose={() => setAdding(false)}
      >
        <NewProvider onDone={() => setAdding(false)} />
      </Dialog>
      {changing !== undefined && <ChangeProvider provider={changing} onClose={() => setChanging(undefined)} />}
      {rotating !== undefined && <RotateProvider provider={rotating} onClose={() => setRotating(undefined)} />}
      {deleting !== undefined && <DeleteProvider provider={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

interface Usage {
  readonly to: string;
  readonly providers: readonly UsedProvider[];
}

/** @param usage absent until it is read. */
function factColumns(usage: Usage | undefined): readonly Column<Provider>[] {
  const used = new Map(usage?.providers.map((one) => [one.id, one]));
  return [
    {
      key: 'name',
      header: 'Provider',
      cell: (provider) => (
        <span className="block max-w-56">
          <span className="block truncate font-medium">{provider.name}</span>
          <code className="block truncate text-xs text-muted">{provider.slug}</code>
          {provider.warnings?.map((warning) => (
            <span key={warning} className="block text-xs break-words text-warn">
              {warning}
            </span>
          ))}
        </span>
      ),
    },
    {
      key: 'type',
      header: 'Type',
      isDetail: true,
      cell: ({ type, status, baseUrl, pricing }) => (
        <span className="flex flex-wrap gap-1.5">
          <Badge tone={isSimulated(type) ? 'accent' : 'neutral'}>{isSimulated(type) ? 'Simulated' : type}</Badge>
          {status === 'disabled' && <Badge tone="warn">Disabled</Badge>}
          {baseUrl !== null && <Badge>Custom base URL</Badge>}
          {pricing !== null && <Badge>Custom prices</Badge>}
        </span>
      ),
    },
    { key: 'credential', header: 'Credential', isDetail: true, cell: (provider) => <Credential provider={provider} /> },
    {
      key: 'calls',
      header: 'Last 7 days',
      isDetail: true,
      cell: ({ id }) => {
        const calls = used.get(id);
        if (usage === undefined || calls === undefined) return '—';
        return (
          <span className="block whitespace-nowrap" title="A call that a fallback answered counts for the fallback.">
            <span className={calls.lastSuccessDay === null && calls.requests > 0 ? 'text-bad' : undefined}>
              {callsText(calls)}
            </span>
            <span className="block text-xs text-muted">{successText(calls, usage.to)}</span>
          </span>
        );
      },
    },
    {
      key: 'users',
      header: 'Reached by',
      isDetail: true,
      cell: ({ id }) => {
        const users = used.get(id);
        if (users === undefined) return '—';
        const [only] = users.apps;
        if (users.appCount === 1 && only !== undefined) return <AppLink {...only} />;
        return (
          <span className="whitespace-nowrap" title={users.apps.map(({ name }) => name).join(', ')}>
            {countText(users.appCount)} {users.appCount === 1 ? 'application' : 'applications'}
          </span>
        );
      },
    },
  ];
}

function AppLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <Link href={`/apps/${id}/proxy`} className="block max-w-40 truncate hover:text-accent hover:underline">
      {name}
    </Link>
  );
}

function Credential({ provider }: { readonly provider: Provider }) {
  const { secretHint, route } = provider;
  return (
    <span className="flex flex-col items-start gap-1">
      {secretHint === null ? (
        <span className="text-muted">by {route ?? 'its gateway'}</span>
      ) : (
        <code>…{secretHint}</code>
      )}
      <TestMark provider={provider} />
    </span>
  );
}

/** The result of the last test of the stored key. */
function TestMark({ provider: { lastTest } }: { readonly provider: Provider }) {
  if (lastTest === null) return null;
  const { tone, label } = markOf(lastTest);
  return (
    <span className="flex flex-wrap items-center gap-1 text-xs text-muted">
      <Badge tone={tone}>{label}</Badge> <Time at={lastTest.at} isRelative />
    </span>
  );
}

function actionColumn(
  act: Readonly<Record<'test' | 'rotate' | 'change' | 'remove', (provider: Provider) => void>>,
  { reason, testing }: { readonly reason: string | undefined; readonly testing: string | undefined },
): Column<Provider> {
  return {
    key: 'acts',
    header: 'Actions',
    isLead: true,
    isNumber: true,
    cell: (provider) => {
      const { id, slug, name, secretHint } = provider;
      const noKey = secretHint === null ? 'Its gateway has the credential: rotate it there.' : undefined;
      return (
        <span className="inline-flex justify-end gap-1.5 card:flex-wrap">
          <Button
            size="sm"
            reason={reason}
            isBusy={testing === id}
            aria-label={`Test ${name}`}
            onClick={() => act.test(provider)}
          >
            Test
          </Button>
          <Button size="sm" reason={reason ?? noKey} aria-label={`Rotate ${name}`} onClick={() => act.rotate(provider)}>
            Rotate
          </Button>
          <ButtonLink size="sm" to={`/models?provider=${slug}`} aria-label={`Prices of ${name}`}>
            Prices
          </ButtonLink>
          <Button size="sm" aria-label={`Change ${name}`} onClick={() => act.change(provider)}>
            Change
          </Button>
          <span className="ml-1 border-l border-line pl-2.5">
            <Button size="sm" reason={reason} aria-label={`Delete ${name}`} onClick={() => act.remove(provider)}>
              Delete
            </Button>
          </span>
        </span>
      );
    },
  };
}

/** The gateway itself generates the responses of this type. */
export function isSimulated(type: string): boolean {
  return type === 'simulated';
}

function DeleteProvider({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const client = useQueryClient();
  const say = useToast();
  const { data: usage } = useQuery({ ...queries.providerUsage(), staleTime: 0 });
  const used = usage?.providers.find(({ id }) => id === provider.id);
  const remove = async () => {
    await read(api.DELETE('/v1/admin/providers/{id}', { params: { path: { id: provider.id } } }));
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    say(`${provider.name} is deleted.`);
  };
  return (
    <TypedConfirmation
      title={`Delete ${provider.name}?`}
      lead={`Its key is deleted. ${used === undefined ? 'Looking for applications that reach it …' : lossOf(used)}`}
      phrase={provider.slug}
      act="Delete"
      isOpen
      onClose={onClose}
      onConfirm={remove}
    />
  );
}
