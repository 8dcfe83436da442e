import { useState } from 'react';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { ErrorAlert } from '../design/layout';
import { type Conflict, conflictsOf, type Draft, type Json, merged, type Winner } from './draft-merge.rules';

/** Someone else saved changes in the meantime: the person decides each member that both changed; the rest is merged. */
export function ConflictDialog({
  base,
  mine,
  theirs,
  error,
  isSaving,
  onClose,
  onMerge,
}: {
  readonly base: Draft;
  readonly mine: Draft;
  readonly theirs: Draft;
  /** Why the merged application was refused. */
  readonly error: unknown;
  readonly isSaving: boolean;
  readonly onClose: () => void;
  readonly onMerge: (draft: Draft) => Promise<void>;
}) {
  const sides = [base, mine, theirs].map((draft) => draft as unknown as Json) as [Json, Json, Json];
  const conflicts = conflictsOf(...sides);
  const [winners, setWinners] = useState<Readonly<Record<string, Winner>>>({});
  const open = conflicts.filter(({ path }) => winners[path] === undefined).length;
  return (
    <Dialog
      title="Someone else saved changes in the meantime"
      lead={
        conflicts.length === 0
          ? 'Their changes and yours do not overlap. Save to keep both.'
          : 'Both of you changed the following. Choose for each; all other changes are kept.'
      }
      isOpen
      onClose={onClose}
    >
      <div className="flex flex-col gap-4">
        {conflicts.map((conflict) => (
          <ConflictChoice
            key={conflict.path}
            conflict={conflict}
            winner={winners[conflict.path]}
            onChoose={(winner) => setWinners({ ...winners, [conflict.path]: winner })}
          />
        ))}
        {error !== undefined && <ErrorAlert error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            isBusy={isSaving}
            reason={open > 0 ? `Choose for each of them; ${open} left.` : undefined}
            onClick={() => void onMerge(merged(...sides, winners) as unknown as Draft)}
          >
            Save
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function ConflictChoice({
  conflict: { path, mine, theirs },
  winner,
  onChoose,
}: {
  readonly conflict: Conflict;
  readonly winner: Winner | undefined;
  readonly onChoose: (winner: Winner) => void;
}) {
  return (
    <fieldset className="rounded-md border border-line p-3">
      <legend className="px-1 font-mono text-xs">{path}</legend>
      <dl className="mb-3 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
        <dt className="text-muted">Yours</dt>
        <dd className="font-mono text-xs break-all">{shown(mine)}</dd>
        <dt className="text-muted">Theirs</dt>
        <dd className="font-mono text-xs break-all">{shown(theirs)}</dd>
      </dl>
      <div className="flex gap-2">
        <Button
          size="sm"
          aria-pressed={winner === 'mine'}
          look={winner === 'mine' ? 'primary' : 'secondary'}
          onClick={() => onChoose('mine')}
        >
          Keep mine
        </Button>
        <Button
          size="sm"
          aria-pressed={winner === 'theirs'}
          look={winner === 'theirs' ? 'primary' : 'secondary'}
          onClick={() => onChoose('theirs')}
        >
          Take theirs
        </Button>
      </div>
    </fieldset>
  );
}

function shown(value: Json): string {
  return value === undefined ? 'removed' : JSON.stringify(value);
}
