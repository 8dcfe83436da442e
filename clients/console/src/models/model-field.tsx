import { useQuery } from '@tanstack/react-query';
import { type Provider, queries } from '../api/queries';
import { SuggestField } from '../design/suggest-field';
import { costWords, pricesOf, utcToday } from './catalog.rules';

/** A model, chosen from those with a price; another name that providers accept can be typed. */
export function ModelField({
  label,
  model,
  onChange,
  providers,
  error,
  reason,
  required = false,
  className,
}: {
  readonly label: string;
  readonly model: string;
  readonly onChange: (model: string) => void;
  /** Whose models are offered; those of every provider of the account when absent. */
  readonly providers?: readonly Provider[];
  readonly error?: string | undefined;
  readonly reason?: string | undefined;
  readonly required?: boolean;
  readonly className?: string;
}) {
  const { data: all = [] } = useQuery(queries.providers());
  const { data: prices } = useQuery(queries.prices());
  const known = prices === undefined ? undefined : pricesOf(providers ?? all, prices);
  const today = utcToday();
  const hint =
    costWords(known?.get(model), today) ??
    'Not in the price list; the gateway finds prices of versions and other names, too.';
  return (
    <SuggestField
      label={label}
      known={[...(known ?? [])].map(([value, own]) => ({ value, note: costWords(own, today) }))}
      value={model}
      onChange={onChange}
      required={required}
      reason={reason}
      error={error}
      {...(model === '' || known === undefined ? {} : { hint })}
      {...(className === undefined ? {} : { className })}
    />
  );
}
