import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { queries } from '../api/queries';
import { priceText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { TextField } from '../design/field';
import { useReadOnlyReason } from '../shell/session';

const SHOWN = 8;

/** Which models are allowed, with what a million tokens of each cost. */
export function ModelPicker({
  type,
  models,
  onChange,
  error,
}: {
  readonly type: string | undefined;
  readonly models: readonly string[];
  readonly onChange: (models: string[]) => void;
  readonly error: string | undefined;
}) {
  const { data: prices } = useQuery(queries.prices());
  const reason = useReadOnlyReason();
  const [typed, setTyped] = useState('');
  const heading = useId();
  const known = prices?.[type ?? ''] ?? {};
  const found = Object.keys(known)
    .filter((name) => !models.includes(name) && name.toLowerCase().includes(typed.toLowerCase()))
    .slice(0, SHOWN);
  const add = (name: string) => {
    onChange([...models, name]);
    setTyped('');
  };
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <h3 id={heading} className="text-sm font-medium">
        Allowed models
      </h3>
      {models.length === 0 && <p className="text-sm text-muted">Every model that has a price.</p>}
      <ul className="flex flex-col gap-1">
        {models.map((name) => (
          <li key={name} className="flex items-center justify-between gap-3 rounded-md bg-sunken px-2 py-1 text-sm">
            <code className="break-all">{name}</code>
            <span className="flex items-center gap-2">
              <PriceNote price={known[name]} />
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
        placeholder="Search, or type a name"
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
                <PriceNote price={known[name]} />
              </button>
            </li>
          ))}
          {found.length === 0 && (
            <li className="px-2.5 py-1.5 text-sm text-muted">
              No model with a price has this name; Enter adds it anyway.
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

function PriceNote({ price }: { readonly price: { readonly input?: number; readonly output?: number } | undefined }) {
  if (price?.input === undefined) return <span className="text-xs text-muted">no token price</span>;
  return (
    <span className="text-xs whitespace-nowrap text-muted" title="Dollars a million tokens">
      {priceText(price.input)} in{price.output === undefined ? '' : ` · ${priceText(price.output)} out`}
    </span>
  );
}
