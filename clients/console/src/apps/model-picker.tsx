import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { type Provider, queries } from '../api/queries';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { costWords, type Price, pricesOf, utcToday } from '../models/catalog.rules';
import { useReadOnlyReason } from '../shell/session';
import { searchModels } from './model-search.rules';

/** Which models are allowed, with what a million tokens of each cost. */
export function ModelPicker({
  type,
  covered,
  models,
  onChange,
  error,
}: {
  readonly type: string | undefined;
  /** The providers that the models are for, with their own prices. */
  readonly covered: readonly Provider[];
  readonly models: readonly string[];
  readonly onChange: (models: string[]) => void;
  readonly error: string | undefined;
}) {
  const { data: prices } = useQuery(queries.prices());
  const reason = useReadOnlyReason();
  const [typed, setTyped] = useState('');
  const heading = useId();
  const listed = Object.entries(prices?.[type ?? ''] ?? {}).map(([name, price]) => [name, [price]] as const);
  const known: ReadonlyMap<string, readonly Price[]> = new Map([
    ...listed,
    ...(prices === undefined ? [] : pricesOf(covered, prices)),
  ]);
  const { found, note } = searchModels(known.keys(), models, typed);
  const add = (name: string) => {
    if (!models.includes(name)) onChange([...models, name]);
    setTyped('');
  };
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <h3 id={heading} className="text-sm font-medium">
        Allowed models
      </h3>
      {models.length === 0 && <p className="text-sm text-muted">Every model whose cost is known.</p>}
      <ul className="flex flex-col gap-1">
        {models.map((name) => (
          <li key={name} className="flex items-center justify-between gap-3 rounded-md bg-sunken px-2 py-1 text-sm">
            <code className="break-all">{name}</code>
            <span className="flex items-center gap-2">
              <PriceNote prices={known.get(name)} />
              <Button
                size="sm"
                look="ghost"
                reason={reason}
                aria-label={`Remove ${name}`}
                onClick={() => onChange(models.filter((own) => own !== name))}
              >
                <X size={13} />
              </Button>
            </span>
          </li>
        ))}
      </ul>
      <TextField
        label="Add a model"
        placeholder="Search or type a name"
        value={typed}
        onChange={setTyped}
        reason={reason}
        error={error}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || typed.trim() === '') return;
          event.preventDefault();
          add(typed.trim());
        }}
      />
      {typed !== '' && (
        <ul className="rounded-md border border-line">
          {found.map((name) => (
            <li key={name}>
              <button
                type="button"
                className="flex w-full items-center justify-between gap-3 px-2.5 py-1.5 text-left text-sm hover:bg-hover"
                onClick={() => add(name)}
              >
                <code className="break-all">{name}</code>
                <PriceNote prices={known.get(name)} />
              </button>
            </li>
          ))}
          {note !== undefined && <li className="px-2.5 py-1.5 text-sm text-muted">{note}</li>}
        </ul>
      )}
    </section>
  );
}

function PriceNote({ prices }: { readonly prices: readonly Price[] | undefined }) {
  return (
    <span className="text-xs text-muted" title="Input and output: dollars per million tokens">
      {costWords(prices, utcToday()) ?? 'not in the price list'}
    </span>
  );
}
