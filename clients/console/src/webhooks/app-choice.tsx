import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { useDebounced } from '../design/debounced';
import { Choices, TextField } from '../design/field';

/** Maximum number of applications in a result. */
const FOUND = 8;

const MODES = [
  {
    value: 'all',
    label: 'All applications',
    hint: 'Including events without an application, such as those about members.',
  },
  { value: 'some', label: 'Chosen applications' },
] as const;

/** The applications whose events are sent; null: all. */
export function AppChoice({
  filter,
  onChange,
  error,
}: {
  readonly filter: readonly string[] | null;
  readonly onChange: (filter: string[] | null) => void;
  readonly error: string | undefined;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Choices
        legend="Applications"
        value={filter === null ? 'all' : 'some'}
        choices={MODES}
        onChange={(mode) => onChange(mode === 'all' ? null : [])}
      />
      {filter !== null && <Picker chosen={filter} onChange={onChange} error={error} />}
    </div>
  );
}

function Picker({
  chosen,
  onChange,
  error,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
  readonly error: string | undefined;
}) {
  const [typed, setTyped] = useState('');
  const query = useDebounced(typed).trim();
  const { data } = useQuery({
    ...queries.apps({ ...(query === '' ? {} : { query }), sort: 'name', limit: FOUND + chosen.length }),
    placeholderData: keepPreviousData,
  });
  const found = data?.apps.filter(({ id }) => !chosen.includes(id)).slice(0, FOUND) ?? [];
  return (
    <>
      {chosen.length > 0 && (
        <ul className="flex flex-col gap-1">
          {chosen.map((id) => (
            <li key={id} className="flex items-center justify-between gap-3 rounded-md bg-sunken px-2 py-1 text-sm">
              <AppName id={id} />
              <Button
                size="sm"
                look="ghost"
                aria-label={`Remove ${id}`}
                onClick={() => onChange(chosen.filter((own) => own !== id))}
              >
                <X size={13} />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <TextField
        label="Add an application"
        placeholder="Search by name or id"
        type="search"
        value={typed}
        onChange={setTyped}
        error={error}
      />
      <ul className="max-h-48 overflow-y-auto rounded-md border border-line empty:hidden">
        {found.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              className="flex w-full items-baseline justify-between gap-3 px-2.5 py-1.5 text-left text-sm hover:bg-hover"
              onClick={() => {
                onChange([...chosen, id]);
                setTyped('');
              }}
            >
              <span className="min-w-0 truncate">{name}</span>
              <code className="min-w-0 truncate text-xs text-muted">{id}</code>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The name of an application, or its id if it is deleted. */
export function AppName({ id }: { readonly id: string }) {
  const { data } = useQuery(queries.appSummary(id));
  return <span className="min-w-0 break-words">{data?.name ?? <code className="text-xs">{id}</code>}</span>;
}
