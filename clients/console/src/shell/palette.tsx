import { clsx } from 'clsx';
import { useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../design/dialog';
import type { Command } from './commands.rules';
import { type ShellActs, useCommands } from './use-commands';

/** Goes anywhere by typing: pages, actions, applications and their tabs, providers, users, documents. */
export function Palette({
  isOpen,
  onClose,
  acts,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly acts: ShellActs;
}) {
  return (
    <Dialog title="Go to" isOpen={isOpen} onClose={onClose}>
      <Commands onDone={onClose} acts={acts} />
    </Dialog>
  );
}

function Commands({ onDone, acts }: { readonly onDone: () => void; readonly acts: ShellActs }) {
  const listId = useId();
  const [typed, setTyped] = useState('');
  /** Chosen by arrow or pointer; else it is the first. */
  const [chosenId, setChosenId] = useState<string>();
  /**
   * Enter was pressed before all results arrived: it selects the first result of the typed text, not of those shown.
   */
  const [isAwaited, setAwaited] = useState(false);
  const { commands, isSettled } = useCommands(typed, acts);
  const at = Math.max(
    0,
    commands.findIndex(({ id }) => id === chosenId),
  );
  const chosen = commands[at];
  const list = useRef<HTMLDivElement>(null);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onDone();
    command.run();
  };
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen?.id]);
  useEffect(() => {
    if (!isAwaited || !isSettled) return;
    setAwaited(false);
    run(commands[0]);
  });
  const type = (text: string) => {
    setTyped(text);
    setChosenId(undefined);
    setAwaited(false);
  };
  const move = (by: number) => {
    setAwaited(false);
    setChosenId(commands[Math.min(Math.max(at + by, 0), commands.length - 1)]?.id);
  };
  return (
    <>
      <input
        className="mb-3 h-9 w-full rounded-md border border-edge bg-surface px-2.5"
        role="combobox"
        aria-label="Search pages, actions, applications, providers, users and documentation"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={chosen === undefined ? undefined : `${listId}-${at}`}
        autoComplete="off"
        value={typed}
        onChange={(event) => type(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'ArrowDown') move(1);
          else if (event.key === 'ArrowUp') move(-1);
          else if (event.key === 'Enter') {
            if (chosenId !== undefined || isSettled) run(chosen);
            else setAwaited(true);
          } else return;
          event.preventDefault();
        }}
      />
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label="Results"
        aria-busy={!isSettled}
        className="flex max-h-80 flex-col overflow-y-auto"
      >
        {commands.map((command, index) => (
          <div
            key={command.id}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={clsx(
              'flex cursor-pointer items-center justify-between gap-4 rounded-md px-2.5 py-1.5',
              index === at && 'bg-accent-soft text-accent',
            )}
            onMouseMove={() => setChosenId(command.id)}
            onClick={() => run(command)}
            onKeyDown={(event) => event.key === 'Enter' && run(command)}
          >
            <span className="min-w-0 truncate">{command.label}</span>
            <span className="max-w-40 shrink-0 truncate text-xs text-muted">{command.kind}</span>
          </div>
        ))}
      </div>
      {commands.length === 0 && (
        <p className="p-2 text-muted" role="status">
          {isSettled ? `Nothing matches “${typed}”.` : 'Searching…'}
        </p>
      )}
    </>
  );
}
