import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { priceText } from '../design/amounts.rules';
import { Dialog } from '../design/dialog';
import { TextField } from '../design/field';
import { Badge, EmptyState } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';

interface PricedModel {
  readonly model: string;
  readonly price: Schemas['ModelPriceResponse'];
  readonly isOwn: boolean;
}

const rate = (usd: number | undefined) => (usd === undefined ? '—' : priceText(usd));

const COLUMNS: readonly Column<PricedModel>[] = [
  {
    key: 'model',
    header: 'Model',
    cell: ({ model, isOwn, price }) => (
      <span className="flex flex-wrap gap-1.5">
        <code className="break-all">{model}</code>
        {isOwn && <Badge tone="accent">Own price</Badge>}
        {price.retirement_date !== undefined && <Badge tone="warn">Ends {price.retirement_date}</Badge>}
      </span>
    ),
  },
  { key: 'input', header: 'Input', isNumber: true, cell: ({ price }) => rate(price.input) },
  { key: 'cached', header: 'Cached', isNumber: true, isDetail: true, cell: ({ price }) => rate(price.cached_input) },
  { key: 'output', header: 'Output', isNumber: true, cell: ({ price }) => rate(price.output) },
];

/** What the models of a provider cost today: its own prices, then those of the catalog. */
export function PricesDialog({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const query = useQuery(queries.prices());
  const { data: prices } = query;
  const [search, setSearch] = useState('');
  const own = provider.pricing ?? {};
  const models = { ...prices?.[provider.type], ...own };
  const found = Object.entries(models)
    .filter(([model]) => model.toLowerCase().includes(search.trim().toLowerCase()))
    .map(([model, price]) => ({ model, price, isOwn: model in own }))
    .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.model.localeCompare(b.model));
  return (
    <Dialog
      title={`Prices of ${provider.name}`}
      lead="Dollars a million tokens, today (UTC). A model without a price is refused."
      isOpen
      isDrawer
      onClose={onClose}
    >
      <TextField
        label="Search models"
        isLabelHidden
        type="search"
        placeholder="Part of a model’s name"
        value={search}
        onChange={setSearch}
        className="mb-4"
      />
      <Loaded query={query} rows={10}>
        {() =>
          found.length === 0 ? (
            <EmptyState title="No price">Set prices for the models of this provider under “Change”.</EmptyState>
          ) : (
            <Table caption="Prices of models" columns={COLUMNS} rows={found} rowKey={({ model }) => model} />
          )
        }
      </Loaded>
    </Dialog>
  );
}
