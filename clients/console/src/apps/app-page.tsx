import { clsx } from 'clsx';
import type { ComponentType } from 'react';
import { Link } from 'wouter';
import { Alert, Badge, PageHeader } from '../design/layout';
import { lazyComponent } from '../design/lazy-component';
import { AppDraftProvider, useAppDraft } from './app-draft';

const TABS: Readonly<Record<string, { readonly label: string; readonly Content: ComponentType }>> = {
  overview: {
    label: 'Overview',
    Content: lazyComponent(async () => (await import('./overview-tab')).OverviewTab),
  },
  auth: {
    label: 'Authentication',
    Content: lazyComponent(async () => (await import('./authentication-tab')).AuthenticationTab),
  },
  proxy: { label: 'Proxy', Content: lazyComponent(async () => (await import('./proxy-tab')).ProxyTab) },
  endpoints: {
    label: 'Endpoints',
    Content: lazyComponent(async () => (await import('./endpoints-tab')).EndpointsTab),
  },
  limits: { label: 'Limits', Content: lazyComponent(async () => (await import('./limits-tab')).LimitsTab) },
  users: { label: 'Users', Content: lazyComponent(async () => (await import('./users-tab')).UsersTab) },
  usage: { label: 'Usage', Content: lazyComponent(async () => (await import('../usage/usage-tab')).UsageTab) },
  'auth-events': {
    label: 'Sign-ins',
    Content: lazyComponent(async () => (await import('./auth-events-tab')).AuthEventsTab),
  },
  settings: {
    label: 'Settings',
    Content: lazyComponent(async () => (await import('./settings-tab')).SettingsTab),
  },
};

/** One application. Its tabs share one draft. */
export function AppPage({ id, tab }: { readonly id: string; readonly tab: string }) {
  return (
    <AppDraftProvider id={id}>
      <Content tab={tab} />
    </AppDraftProvider>
  );
}

function Content({ tab }: { readonly tab: string }) {
  const { id, loaded } = useAppDraft();
  const { app, config_error: configError } = loaded;
  const shown = TABS[tab] ?? TABS.overview;
  return (
    <>
      <PageHeader
        title={tab === 'overview' ? app.name : `${app.name}: ${shown?.label.toLowerCase()}`}
        above={
          <Link href="/apps" className="text-sm text-muted hover:text-ink">
            ← Applications
          </Link>
        }
        lead={
          <span className="flex flex-wrap items-center gap-2">
            <code className="text-sm break-all">{id}</code>
            {app.status === 'disabled' && <Badge tone="warn">Disabled</Badge>}
          </span>
        }
      />
      <nav aria-label="Parts of the application" className="mb-6 flex gap-1 overflow-x-auto border-b border-line">
        {Object.entries(TABS).map(([value, { label }]) => (
          <Link
            key={value}
            href={`/apps/${id}/${value}`}
            aria-current={value === tab ? 'page' : undefined}
            className={clsx(
              '-mb-px border-b-2 px-3 py-1.5 text-sm whitespace-nowrap',
              value === tab ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
            )}
          >
            {label}
          </Link>
        ))}
      </nav>
      {configError !== null && (
        <div className="mb-4">
          <Alert>The stored configuration is no longer valid: {configError}</Alert>
        </div>
      )}
      {shown !== undefined && <shown.Content />}
    </>
  );
}
