import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { queries } from './api/queries';
import { ButtonLink } from './design/button';
import { EmptyState, Skeleton } from './design/layout';
import { SignInPage } from './session/sign-in-page';
import { SignUpPage } from './session/sign-up-page';
import { SessionProvider } from './shell/session';
import { Shell } from './shell/shell';

const AppsPage = lazy(async () => ({ default: (await import('./apps/apps-page')).AppsPage }));
const NewAppPage = lazy(async () => ({ default: (await import('./apps/new-app-page')).NewAppPage }));
const AppPage = lazy(async () => ({ default: (await import('./apps/app-page')).AppPage }));
const StartPage = lazy(async () => ({ default: (await import('./start/start-page')).StartPage }));
const ProvidersPage = lazy(async () => ({ default: (await import('./providers/providers-page')).ProvidersPage }));
const GatewaysPage = lazy(async () => ({ default: (await import('./providers/gateways-page')).GatewaysPage }));
const AccessPage = lazy(async () => ({ default: (await import('./access/access-page')).AccessPage }));
const MembersPage = lazy(async () => ({ default: (await import('./access/members-page')).MembersPage }));
const InvitePage = lazy(async () => ({ default: (await import('./access/invite-page')).InvitePage }));
const AuditPage = lazy(async () => ({ default: (await import('./operations/audit-page')).AuditPage }));
const HealthPage = lazy(async () => ({ default: (await import('./operations/health-page')).HealthPage }));
const ProfilePage = lazy(async () => ({ default: (await import('./settings/profile-page')).ProfilePage }));
const SecurityPage = lazy(async () => ({ default: (await import('./settings/security-page')).SecurityPage }));

/** Every address of the console. `src/console/console.controller.ts` serves the same ones. */
export function Routes() {
  return (
    <Suspense fallback={<Skeleton rows={8} />}>
      <Switch>
        <Route path="/login" component={SignInPage} />
        <Route path="/signup" component={SignUpPage} />
        <Route path="/invite" component={InvitePage} />
        <Route>
          <SessionProvider>
            <Shell>
              <Suspense fallback={<Skeleton rows={8} />}>
                <Switch>
                  <Route path="/" component={FirstPage} />
                  <Route path="/start" component={StartPage} />
                  <Route path="/apps" component={AppsPage} />
                  <Route path="/apps/new" component={NewAppPage} />
                  <Route path="/apps/:id/:tab">{({ id, tab }) => <AppPage key={id} id={id} tab={tab} />}</Route>
                  <Route path="/providers" component={ProvidersPage} />
                  <Route path="/providers/gateways" component={GatewaysPage} />
                  <Route path="/access" component={AccessPage} />
                  <Route path="/members" component={MembersPage} />
                  <Route path="/audit" component={AuditPage} />
                  <Route path="/health" component={HealthPage} />
                  <Route path="/settings/profile" component={ProfilePage} />
                  <Route path="/settings/security" component={SecurityPage} />
                  <Route>
                    <NoSuchPage />
                  </Route>
                </Switch>
              </Suspense>
            </Shell>
          </SessionProvider>
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Who has no application yet is guided to the first one. */
function FirstPage(): ReactNode {
  const { data } = useQuery(queries.apps());
  if (data === undefined) return <Skeleton rows={8} />;
  return <Redirect to={data.has_proxied_requests || data.apps.length > 0 ? '/apps' : '/start'} replace />;
}

function NoSuchPage() {
  return (
    <EmptyState title="There is no such page" actions={<ButtonLink to="/apps">Applications</ButtonLink>}>
      The address may be old, or mistyped.
    </EmptyState>
  );
}
