import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SelectField } from '../design/field';
import { SuggestField } from '../design/suggest-field';
import { breakdownQuery, type Dimension } from './breakdown-query';
import { askedOf, type UsageAddress } from './usage-address';

/** A filter of calls, chosen from the values in the period; the list is read when opened. */
export function CallFilter({
  label,
  by,
  value,
  onChange,
  app,
  address,
}: {
  readonly label: string;
  readonly by: Dimension;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly app: string | undefined;
  readonly address: UsageAddress;
}) {
  const [isWanted, setWanted] = useState(false);
  const { data } = useQuery({ ...breakdownQuery({ ...askedOf(app, address), by }), enabled: isWanted });
  const known = new Set(data?.rows.flatMap(({ key }) => key ?? []));
  return (
    <SuggestField
      label={label}
      known={[...known].map((key) => ({ value: key }))}
      value={value}
      onChange={onChange}
      onFocus={() => setWanted(true)}
      className="w-40"
    />
  );
}

/** Of which application calls are shown, chosen from those that have calls in the period. */
export function AppFilter({ address }: { readonly address: UsageAddress }) {
  const chosen = address.search.get('app') ?? '';
  const { data } = useQuery(breakdownQuery({ ...askedOf(undefined, address), by: 'app' }));
  const known = new Set([...(data?.rows.flatMap(({ key }) => key ?? []) ?? []), ...(chosen === '' ? [] : [chosen])]);
  return (
    <SelectField
      label="Application"
      value={chosen}
      options={[{ value: '', label: 'Any application' }, ...[...known].map((value) => ({ value, label: value }))]}
      onChange={(app) => address.set({ app })}
    />
  );
}
