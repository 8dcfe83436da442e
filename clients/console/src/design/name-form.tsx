import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { useSubmit } from '../api/use-submit';
import { Button } from './button';
import { TextField } from './field';
import { ErrorAlert } from './layout';
import { useToast } from './toast';

/** A form that changes one name. */
export function NameForm({
  label,
  current,
  reason,
  autoComplete = 'off',
  onSave,
}: {
  readonly label: string;
  readonly current: string;
  /** Why it cannot be changed. */
  readonly reason?: string | undefined;
  readonly autoComplete?: string;
  readonly onSave: (name: string) => Promise<unknown>;
}) {
  const say = useToast();
  const [name, setName] = useState(current);
  const { run, error, isBusy } = useSubmit();
  const problem = problemAt(error, 'name');
  const save = () =>
    run(async () => {
      await onSave(name);
      say('Saved.');
    });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void save();
      }}
    >
      <TextField
        label={label}
        autoComplete={autoComplete}
        value={name}
        onChange={setName}
        reason={reason}
        error={problem}
      />
      {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={isBusy}
          reason={reason ?? (name === current ? 'Nothing has changed.' : undefined)}
        >
          Save
        </Button>
      </div>
    </form>
  );
}
