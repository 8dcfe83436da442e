import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { useEffect, useId, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { queries } from '../api/queries';
import { useDebounced } from '../design/debounced';
import { Dialog } from '../design/dialog';
import { NAVIGATION } from './pages';
import { applyTheme, type Theme } from './theme';

const MAX_SHOWN = 12;

interface Command {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly run: () => void;
}

/** Goes anywhere by typing: pages, applications, providers, themes. */
export function Palette({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog title="Go to" isOpen={isOpen} onClose={onClose}>
      <Commands onDone={onClose} />
    </Dialog>
  );
}

function Commands({ onDone }: { readonly onDone: () => void }) {
  const listId = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const shown = useMatches(typed);
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => setAt(0), [typed]);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onDone();
    command.run();
  };
  return (
    <>
      <input
        className="mb-3 h-9 w-full rounded-md border border-edge bg-surface px-2.5"
        role="combobox"
        aria-label="Search pages, applications and providers"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={shown[chosen] === undefined ? undefined : `${listId}-${chosen}`}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, shown.length - 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
          else if (event.key === 'Enter') run(shown[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div id={listId} role="listbox" aria-label="Results" className="flex max-h-80 flex-col overflow-y-auto">
        {shown.map((command, index) => (
          <div
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={clsx(
              'flex cursor-pointer items-center justify-between gap-4 rounded-md px-2.5 py-1.5',
              index === chosen && 'bg-accent-soft text-accent',
            )}
            onMouseMove={() => setAt(index)}
            onClick={() => run(command)}
            onKeyDown={(event) => event.key === 'Enter' && run(command)}
          >
            <span className="min-w-0 truncate">{command.label}</span>
            <span className="text-xs text-muted">{command.kind}</span>
          </div>
        ))}
        {shown.length === 0 && <p className="p-2 text-muted">Nothing matches “{typed}”.</p>}
      </div>
    </>
  );
}

function useMatches(typed: string): readonly Command[] {
  const [, navigate] = useLocation();
  const query = useDebounced(typed).trim();
  const { data: list } = useQuery({
    ...queries.apps({ query, sort: 'name', limit: MAX_SHOWN }),
    placeholderData: keepPreviousData,
  });
  const { data: providers = [] } = useQuery(queries.providers());
  return useMemo(() => {
    const theme = (value: Theme): Command => ({
      id: `theme ${value}`,
      label: `Theme: ${value}`,
      kind: 'Setting',
      run: () => applyTheme(value),
    });
    const page = (to: string, label: string, kind: string): Command => ({
      id: `${kind} ${to}`,
      label,
      kind,
      run: () => navigate(to),
    });
    const commands = [
      ...NAVIGATION.map(({ to, label }) => page(to, label, 'Page')),
      page('/apps/new', 'New application', 'Action'),
      page('/settings/profile', 'Profile', 'Page'),
      page('/settings/security', 'Password and sessions', 'Page'),
      ...(['system', 'light', 'dark'] as const).map(theme),
      ...providers.map(({ name }) => page('/providers', name, 'Provider')),
    ];
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    return [
      ...commands.filter(({ label, kind }) => words.every((word) => `${label} ${kind}`.toLowerCase().includes(word))),
      // The service has searched them by name, id and bundle.
      ...(list?.apps ?? []).map(({ id, name }) => page(`/apps/${id}/overview`, name, 'Application')),
    ].slice(0, MAX_SHOWN);
  }, [typed, list, providers, navigate]);
}
