import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { PageHeader } from '../design/layout';

const PAGES = [
  { to: '/settings/profile', label: 'Profile' },
  { to: '/settings/security', label: 'Password and sessions' },
  { to: '/settings/mail', label: 'Mail' },
] as const;

/** The frame of a person's own settings. */
export function SettingsFrame({
  title,
  lead = 'Your own settings, in every organization.',
  children,
}: {
  readonly title: string;
  readonly lead?: string;
  readonly children: ReactNode;
}) {
  const [location] = useLocation();
  return (
    <div className="max-w-2xl">
      <PageHeader title={title} lead={lead} />
      <nav aria-label="Settings" className="mb-6 flex gap-1 border-b border-line">
        {PAGES.map(({ to, label }) => (
          <Link
            key={to}
            href={to}
            aria-current={location === to ? 'page' : undefined}
            className={clsx(
              '-mb-px border-b-2 px-3 py-1.5 text-sm',
              location === to ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
            )}
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </div>
  );
}
