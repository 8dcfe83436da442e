import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button';
import { Scrollable } from './scrollable';

const SHOWN_MS = 2_000;

function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button size="sm" onClick={() => void copy()}>
      {isCopied ? <Check size={13} /> : <Copy size={13} />}
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  );
}

/** Text to take away: a command, an id, a key. */
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
