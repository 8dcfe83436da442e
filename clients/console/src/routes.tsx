import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { queries } from './api/queries';
import { ButtonLink } from './design/button';
import { EmptyState } from './design/layout';
import { lazyComponent } from './design/lazy-component';
import { Loaded } from './design/loaded';
import { SignInPage } from './session/sign-in-page';
import { SignUpPage } from './session/sign-up-page';
import { GuardedRouter } from './shell/guarded-router';
import { SessionProvider } from './shell/session';
import { Shell } from './shell/shell';

/** Pages of people who are signed in, each with its code. */
const PAGES = {
  '/start': lazyComponent(async () => (await import('./start/start-page')).StartPage),
  '/apps': lazyComponent(async () => (await import('./apps/apps-page')).AppsPage),
  '/apps/new': lazyComponent(async () => (await import('./apps/new-app-page')).NewAppPage),
  '/usage': lazyComponent(async () => (await import('./usage/usage-page')).UsagePage),
  '/providers': lazyComponent(async () => (await import('./providers/providers-page')).ProvidersPage),
  '/providers/gateways': lazyComponent(async () => (await import('./providers/gateways-page')).GatewaysPage),
  '/models': lazyComponent(async () => (await import('./models/models-page')).ModelsPage),
  '/access': lazyComponent(async () => (await import('./access/access-page')).AccessPage),
  '/members': lazyComponent(async () => (await import('./access/members-page')).MembersPage),
  '/webhooks': lazyComponent(async () => (await import('./webhooks/webhooks-page')).WebhooksPage),
  '/audit': lazyComponent(async () => (await import('./operations/audit-page')).AuditPage),
  '/health': lazyComponent(async () => (await import('./operations/health-page')).HealthPage),
  '/settings/profile': lazyComponent(async () => (await import('./settings/profile-page')).ProfilePage),
  '/settings/mail': lazyComponent(async () => (await import('./settings/mail-page')).MailPage),
  '/settings/security': lazyComponent(async () => (await import('./settings/security-page')).SecurityPage),
};
const OverviewPage = lazyComponent(async () => (await import('./overview/overview-page')).OverviewPage);
const AppPage = lazyComponent(async () => (await import('./apps/app-page')).AppPage);
const WebhookPage = lazyComponent(async () => (await import('./webhooks/webhook-page')).WebhookPage);
const InvitePage = lazyComponent(async () => (await import('./access/invite-page')).InvitePage);
const RecoverPage = lazyComponent(async () => (await import('./session/recover-page')).RecoverPage);
const ResetPage = lazyComponent(async () => (await import('./session/reset-page')).ResetPage);

/** Fetches the code of the page at an address. */
export async function fetchPage(path: string): Promise<void> {
  if (path === '/login' || path === '/signup') return;
  const others = { '/': OverviewPage, '/invite': InvitePage, '/recover': RecoverPage, '/reset': ResetPage };
  const page = Object.entries({ ...PAGES, ...others }).find(([own]) => own === path)?.[1];
  await (page ?? (path.startsWith('/webhooks/') ? WebhookPage : AppPage)).fetch();
}

/** Every address of the console. `src/console/console.controller.ts` serves the same addresses. */
export function Routes() {
  return (
    <GuardedRouter>
      <Switch>
        <Route path="/login" component={SignInPage} />
        <Route path="/signup" component={SignUpPage} />
        <Route path="/invite" component={InvitePage} />
        <Route path="/recover" component={RecoverPage} />
        <Route path="/reset" component={ResetPage} />
        <Route>
          <SessionProvider>
            <Shell>
              <Switch>
                <Route path="/" component={FirstPage} />
                {Object.entries(PAGES).map(([path, Page]) => (
                  <Route key={path} path={path} component={Page} />
                ))}
                <Route path="/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
                <Route path="/apps/:id/:tab">{({ id, tab }) => <AppPage key={id} id={id} tab={tab} />}</Route>
                <Route>
                  <NoSuchPage />
                </Route>
              </Switch>
            </Shell>
          </SessionProvider>
        </Route>
      </Switch>
    </GuardedRouter>
  );
}

/** The overview. Accounts without an application are guided to the first one. */
function FirstPage(): ReactNode {
  const query = useQuery(queries.account());
  return (
    <Loaded query={query} rows={8}>
      {({ has_proxied_requests: hasCalls, total }) =>
        hasCalls || total > 0 ? <OverviewPage /> : <Redirect to="/start" replace />
      }
    </Loaded>
  );
}

function NoSuchPage() {
  return (
    <EmptyState title="Page not found" actions={<ButtonLink to="/apps">Applications</ButtonLink>}>
      The address may be outdated or mistyped.
    </EmptyState>
  );
}
