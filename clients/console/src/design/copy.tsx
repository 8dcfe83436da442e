import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button';
import { Scrollable } from './scrollable';

const SHOWN_MS = 2_000;

function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  const copy = async () => {
    // Browsers offer the clipboard only to https and localhost, and may refuse it there too.
    const written = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(written ? 'copied' : 'refused');
    setTimeout(() => setOutcome(undefined), SHOWN_MS);
  };
  return (
    <Button size="sm" onClick={() => void copy()}>
      {outcome === 'copied' ? <Check size={13} /> : <Copy size={13} />}
      <span aria-live="polite">
        {outcome === undefined ? label : outcome === 'copied' ? 'Copied' : 'Select it and copy it by hand'}
      </span>
    </Button>
  );
}

/** Text to copy: a command, an id, a key. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-3 border-b border-line px-3 py-1.5 text-xs text-muted">
        {label}
        <CopyButton text={code} />
      </figcaption>
      <Scrollable label={`${label}, text`}>
        <pre className="p-3 text-xs leading-5">
          <code>{code}</code>
        </pre>
      </Scrollable>
    </figure>
  );
}
