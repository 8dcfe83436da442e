import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queries } from '../api/queries';
import { useAddress, valuesOf } from '../design/address';
import { countText, priceText } from '../design/amounts.rules';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { type CatalogModel, catalogOf, isFound, lifeOf, otherWords, utcToday } from './catalog.rules';

/** Models that no provider of the account serves are shown on demand. */
const EVERYTHING = '*';
const LIVES = [
  { value: 'any', label: 'Any retirement' },
  { value: 'open', label: 'Current' },
  { value: 'deprecated', label: 'Deprecated' },
  { value: 'ending', label: 'End announced' },
  { value: 'ended', label: 'Retired' },
] as const;

const FILTERS = { q: '', provider: '', retirement: valuesOf(LIVES), day: '' };

/** Every model with a price: search and filters are in the address, so that they can be shared. */
export function ModelsPage() {
  const [{ q: search, provider: slug, retirement, day: asked }, change] = useAddress(FILTERS);
  const day = asked || utcToday();
  const providersQuery = useQuery(queries.providers());
  const pricesQuery = useQuery(queries.prices(asked || undefined));
  const isShown = (one: CatalogModel) =>
    (slug === EVERYTHING || one.providers.some((provider) => slug === '' || provider.slug === slug)) &&
    (retirement === 'any' || lifeOf(one.price, day) === retirement) &&
    isFound(one, search);
  return (
    <>
      <PageHeader
        title="Models"
        lead="What the models of your providers cost, in dollars per million tokens unless stated otherwise. A call is priced by the UTC day on which it is made."
      />
      <Card isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <TextField
            label="Search models"
            isLabelHidden
            type="search"
            placeholder="Model, author or provider"
            value={search}
            onChange={(text) => change({ q: text })}
            className="min-w-52 flex-1"
          />
          <SelectField
            label="Provider"
            isLabelHidden
            value={slug}
            options={[
              { value: '', label: 'My providers' },
              ...(providersQuery.data ?? []).map((one) => ({ value: one.slug, label: one.name })),
              { value: EVERYTHING, label: 'The whole price list' },
            ]}
            onChange={(value) => change({ provider: value })}
          />
          <SelectField
            label="Retirement"
            isLabelHidden
            value={retirement}
            options={LIVES}
            onChange={(value) => change({ retirement: value })}
          />
          <TextField
            label="Prices of the day (UTC)"
            isLabelHidden
            title="Prices of the day (UTC)"
            type="date"
            value={day}
            onChange={(value) => change({ day: value === utcToday() ? '' : value })}
          />
        </div>
        <Loaded query={providersQuery} rows={12}>
          {(providers) => (
            <Loaded query={pricesQuery} rows={12}>
              {(prices) => (
                <Found
                  models={catalogOf(providers, prices).filter(isShown)}
                  hasProviders={providers.length > 0}
                  day={day}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function Found({
  models,
  hasProviders,
  day,
}: {
  readonly models: readonly CatalogModel[];
  readonly hasProviders: boolean;
  readonly day: string;
}) {
  const columns = useMemo(() => columnsOf(day), [day]);
  if (models.length === 0) {
    return (
      <EmptyState title="No model">
        {hasProviders
          ? 'No model with a price matches. A provider can have prices of its own, under “Change”.'
          : 'Your account has no provider yet. “The whole price list” shows what each type costs.'}
      </EmptyState>
    );
  }
  return (
    <>
      <p className="px-4 pt-3 text-sm text-muted" role="status">
        {countText(models.length)} {models.length === 1 ? 'price' : 'prices'}
      </p>
      <Table caption="Models and their prices" columns={columns} rows={models} rowKey={keyOf} />
    </>
  );
}

const keyOf = ({ model, type, isOwn, providers }: CatalogModel) => `${isOwn ? providers[0]?.id : type} ${model}`;

const rate = (usd: number | undefined) => (usd === undefined ? '—' : priceText(usd));

function columnsOf(day: string): readonly Column<CatalogModel>[] {
  return [
    {
      key: 'model',
      header: 'Model',
      cell: ({ model, isOwn, price }) => (
        <span className="flex min-w-32 flex-wrap items-center gap-1.5 lg:min-w-64">
          <code className="break-all">{model}</code>
          {isOwn && <Badge tone="accent">Custom price</Badge>}
          <Life price={price} day={day} />
        </span>
      ),
    },
    {
      key: 'providers',
      header: 'Provider',
      isDetail: true,
      cell: ({ type, providers }) =>
        providers.length === 0 ? (
          <span className="text-muted">{type}, not in your account</span>
        ) : (
          providers.map(({ name }) => name).join(', ')
        ),
    },
    { key: 'input', header: 'Input', isNumber: true, cell: ({ price }) => rate(price.input) },
    { key: 'cached', header: 'Cached', isNumber: true, isDetail: true, cell: ({ price }) => rate(price.cached_input) },
    { key: 'output', header: 'Output', isNumber: true, cell: ({ price }) => rate(price.output) },
    {
      key: 'other',
      header: 'Also charged',
      isDetail: true,
      cell: ({ price }) => <span className="block max-w-64 text-xs text-muted">{otherWords(price) || '—'}</span>,
    },
  ];
}

function Life({ price, day }: { readonly price: CatalogModel['price']; readonly day: string }) {
  const life = lifeOf(price, day);
  if (life === 'open') return null;
  if (life === 'deprecated') return <Badge tone="warn">Deprecated</Badge>;
  return life === 'ended' ? (
    <Badge tone="bad">Retired {price.retirement_date}</Badge>
  ) : (
    <Badge tone="warn">Retires {price.retirement_date}</Badge>
  );
}
