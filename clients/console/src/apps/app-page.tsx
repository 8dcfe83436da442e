import { clsx } from 'clsx';
import type { ComponentType } from 'react';
import { Link } from 'wouter';
import { Alert, Badge, PageHeader } from '../design/layout';
import { lazyComponent } from '../design/lazy-component';
import { AppDraftProvider, useAppDraft } from './app-draft';
import { APP_TABS, type AppTab } from './app-tabs';

const CONTENTS: Readonly<Record<AppTab, ComponentType>> = {
  overview: lazyComponent(async () => (await import('./overview-tab')).OverviewTab),
  auth: lazyComponent(async () => (await import('./authentication-tab')).AuthenticationTab),
  proxy: lazyComponent(async () => (await import('./proxy-tab')).ProxyTab),
  endpoints: lazyComponent(async () => (await import('./endpoints-tab')).EndpointsTab),
  limits: lazyComponent(async () => (await import('./limits-tab')).LimitsTab),
  users: lazyComponent(async () => (await import('./users-tab')).UsersTab),
  usage: lazyComponent(async () => (await import('../usage/usage-tab')).UsageTab),
  'auth-events': lazyComponent(async () => (await import('./auth-events-tab')).AuthEventsTab),
  settings: lazyComponent(async () => (await import('./settings-tab')).SettingsTab),
};

const UserTab = lazyComponent(async () => (await import('./user-tab')).UserTab);

/** The page of a user, within the tab of all users. */
const USER = 'user';

const isTab = (text: string): text is AppTab => text in APP_TABS;

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
  const isUser = tab === USER;
  const shown = isUser ? 'users' : isTab(tab) ? tab : 'overview';
  const Shown = isUser ? UserTab : CONTENTS[shown];
  return (
    <>
      <PageHeader
        title={shown === 'overview' ? app.name : `${app.name}: ${isUser ? USER : APP_TABS[shown].toLowerCase()}`}
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
      <nav aria-label="Parts of the application" className="mb-6 flex flex-wrap gap-x-1 border-b border-line">
        {Object.entries(APP_TABS).map(([value, label]) => (
          <Link
            key={value}
            href={`/apps/${id}/${value}`}
            aria-current={value === shown ? (isUser ? 'true' : 'page') : undefined}
            className={clsx(
              '-mb-px border-b-2 px-3 py-1.5 text-sm whitespace-nowrap',
              value === shown ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
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
      <Shown />
    </>
  );
}
