import { X } from 'lucide-react';
import { useId, useState } from 'react';
import type { Provider } from '../api/queries';
import { Button } from '../design/button';
import { SuggestField } from '../design/suggest-field';
import { useReadOnlyReason } from '../shell/session';

/** Which paths are allowed, chosen from those of the provider type; others can be typed. */
export function PathPicker({
  covered,
  paths,
  onChange,
  error,
}: {
  /** The providers that the paths are for. */
  readonly covered: readonly Provider[];
  readonly paths: readonly string[];
  readonly onChange: (paths: string[]) => void;
  readonly error: string | undefined;
}) {
  const reason = useReadOnlyReason();
  const [typed, setTyped] = useState('');
  const heading = useId();
  const path = typed.trim();
  const known = new Set(covered.flatMap(({ capability }) => capability.inferencePaths));
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <h3 id={heading} className="text-sm font-medium">
        Allowed paths
      </h3>
      {paths.length === 0 && <p className="text-sm text-muted">The inference paths of the provider type.</p>}
      <ul className="flex flex-col gap-1">
        {paths.map((own) => (
          <li key={own} className="flex items-center justify-between gap-3 rounded-md bg-sunken px-2 py-1 text-sm">
            <code className="break-all">{own}</code>
            <Button
              size="sm"
              look="ghost"
              reason={reason}
              aria-label={`Remove ${own}`}
              onClick={() => onChange(paths.filter((other) => other !== own))}
            >
              <X size={13} />
            </Button>
          </li>
        ))}
      </ul>
      <form
        className="flex items-start gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason !== undefined || path === '') return;
          if (!paths.includes(path)) onChange([...paths, path]);
          setTyped('');
        }}
      >
        <SuggestField
          label="Add a path"
          placeholder="v1/chat/completions"
          known={[...known].filter((one) => !paths.includes(one)).map((value) => ({ value }))}
          value={typed}
          onChange={setTyped}
          reason={reason}
          error={error}
          className="flex-1"
        />
        <Button size="row" type="submit" reason={reason ?? (path === '' ? 'Choose or type a path.' : undefined)}>
          Add path
        </Button>
      </form>
    </section>
  );
}
