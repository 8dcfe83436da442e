import { type ReactNode, useEffect } from 'react';
import { Mark } from '../design/mark';
import { ThemeMenu } from '../shell/theme';

/**
 * The frame of pages for people who are not signed in. Pages that the service renders have the same
 * (`src/console/pages/page.ts`).
 */
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
    <div className="flex min-h-screen flex-col">
      <header className="flex h-14 items-center justify-between px-4">
        <span className="flex items-center gap-2 font-semibold">
          <Mark /> Gateway
        </span>
        <ThemeMenu />
      </header>
      <main className="mx-auto w-full max-w-md flex-1 px-4 pt-[8vh] pb-8">
        <div className="rounded-lg border border-line bg-surface p-6 shadow-sm max-sm:p-5">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {lead !== undefined && <p className="mt-1 text-muted">{lead}</p>}
          <div className="mt-5">{children}</div>
        </div>
      </main>
      <footer className="p-4 text-center text-sm">
        <a href="/docs" className="text-muted hover:text-ink">
          Documentation
        </a>
      </footer>
    </div>
  );
}
