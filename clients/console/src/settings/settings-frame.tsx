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
    <div>
      <PageHeader title={title} lead={lead} />
      <div className="lg:grid lg:grid-cols-[12rem_1fr] lg:items-start lg:gap-8">
        <nav aria-label="Settings" className="flex gap-1 border-line max-lg:mb-6 max-lg:border-b lg:flex-col">
          {PAGES.map(({ to, label }) => (
            <Link
              key={to}
              href={to}
              aria-current={location === to ? 'page' : undefined}
              className={clsx(
                'px-3 py-1.5 text-sm max-lg:-mb-px max-lg:border-b-2 lg:rounded-md',
                location === to
                  ? 'border-accent text-ink lg:bg-hover lg:font-medium'
                  : 'border-transparent text-muted hover:text-ink lg:hover:bg-hover',
              )}
            >
              {label}
            </Link>
          ))}
        </nav>
        <div className="min-w-0">{children}</div>
      </div>
    </div>
  );
}
