import { clsx } from 'clsx';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import { ApiError, messageOf } from '../api/api-error';
import { DocumentationLink, Help } from './documentation';
import { errorHelpOf } from './documentation.rules';

/** The heading of a page, and the title of its tab. */
export function PageHeader({
  title,
  lead,
  actions,
  above,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly above?: ReactNode;
}) {
  const [path] = useLocation();
  useEffect(() => {
    document.title = `${title} · Gateway`;
  }, [title]);
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 sm:grow sm:basis-80">
        {above}
        <h1 className="text-2xl font-semibold tracking-tight break-words">{title}</h1>
        {lead !== undefined && <p className="mt-1 max-w-prose text-pretty text-muted">{lead}</p>}
        <p className="mt-1 text-sm text-muted empty:hidden">
          <Help path={path} />
        </p>
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

export function Card({
  title,
  lead,
  actions,
  children,
  isFlush = false,
}: {
  readonly title?: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without padding, for tables. */
  readonly isFlush?: boolean;
}) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface">
      {title !== undefined && (
        <div className="flex flex-wrap items-start justify-between gap-3 border-b border-line px-4 py-3">
          <div className="min-w-0 sm:grow sm:basis-64">
            <h2 className="text-lg font-semibold">{title}</h2>
            {lead !== undefined && <p className="text-sm text-muted">{lead}</p>}
          </div>
          {actions}
        </div>
      )}
      <div className={isFlush ? undefined : 'p-4'}>{children}</div>
    </section>
  );
}

type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-muted border-line',
  good: 'bg-good-soft text-good border-transparent',
  warn: 'bg-warn-soft text-warn border-transparent',
  bad: 'bg-bad-soft text-bad border-transparent',
  accent: 'bg-accent-soft text-accent border-transparent',
};

export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={clsx(
        'inline-flex items-center rounded-full border px-2 py-px text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** A message that is read out as soon as it appears. */
export function Alert({
  tone = 'bad',
  children,
  actions,
}: {
  readonly tone?: 'bad' | 'warn' | 'good';
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <div
      role={tone === 'good' ? 'status' : 'alert'}
      className={clsx('flex flex-wrap items-center justify-between gap-3 rounded-md px-3 py-2 text-sm', TONES[tone])}
    >
      <div className="min-w-0 break-words">{children}</div>
      {actions}
    </div>
  );
}

/** What went wrong, and where the documentation explains it. */
export function ErrorAlert({ error, actions }: { readonly error: unknown; readonly actions?: ReactNode }) {
  const help = error instanceof ApiError ? errorHelpOf(error.code) : undefined;
  return (
    <Alert actions={actions}>
      {messageOf(error)}{' '}
      {help !== undefined && error instanceof ApiError && (
        <DocumentationLink to={help} label={`About the error ${error.code}`}>
          {error.code}
        </DocumentationLink>
      )}
    </Alert>
  );
}

/** The explanation in an empty list. */
export function EmptyState({
  title,
  children,
  actions,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}) {
  const [path] = useLocation();
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="max-w-prose text-muted">{children}</div>
      {actions !== undefined && <div className="mt-2 flex gap-2">{actions}</div>}
      <p className="text-sm text-muted empty:hidden">
        <Help path={path} />
      </p>
    </div>
  );
}

/** A figure and its label. */
export function Figure({
  label,
  value,
  note,
}: {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="mt-0.5 text-xl font-semibold tabular-nums">{value}</dd>
      {note !== undefined && <dd className="text-xs text-muted">{note}</dd>}
    </div>
  );
}

/** Figures in rows of two or four; a shorter last row is as wide as the others. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="mb-6 flex flex-wrap gap-3 [&>*]:grow [&>*]:basis-[calc(50%-0.75rem)] lg:[&>*]:basis-[calc(25%-0.75rem)]">
      {children}
    </dl>
  );
}
