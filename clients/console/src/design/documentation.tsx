import { BookOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { helpOf } from './documentation.rules';

/** A link into the documentation of this version, opened in a new tab. */
export function DocumentationLink({
  to,
  children,
  label,
}: {
  readonly to: string;
  readonly children: ReactNode;
  /** The label for assistive technology if the text alone does not name the target. */
  readonly label?: string;
}) {
  return (
    <a
      href={to}
      target="_blank"
      rel="noopener"
      aria-label={label}
      className="whitespace-nowrap underline underline-offset-2"
    >
      {children}
    </a>
  );
}

/** The documentation of the page at an address of the console. */
export function Help({ path }: { readonly path: string }) {
  const help = helpOf(path);
  if (help === undefined) return null;
  return (
    <a
      href={help.to}
      target="_blank"
      rel="noopener"
      className="inline-flex items-center gap-1.5 underline-offset-2 hover:text-ink hover:underline"
    >
      <BookOpen size={13} aria-hidden /> {help.title}
    </a>
  );
}
