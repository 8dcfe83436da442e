import { type ReactNode, useEffect } from 'react';
import { ThemeMenu } from '../shell/theme';

/** The frame of pages for people who are not signed in. */
export function Frame({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead?: string;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Gateway`;
  }, [title]);
  return (
    <main className="mx-auto flex min-h-screen max-w-md flex-col justify-center p-4">
      <div className="absolute top-3 right-3">
        <ThemeMenu />
      </div>
      <div className="rounded-lg border border-line bg-surface p-6 shadow-sm">
        <h1 className="text-xl font-semibold">{title}</h1>
        {lead !== undefined && <p className="mt-1 text-muted">{lead}</p>}
        <div className="mt-5">{children}</div>
      </div>
    </main>
  );
}
