import { AdminCredentialGuard, AdminRoleGuard, IdentityGuard, PersonGuard } from '../accounts/access/admin.guard.js';
import { ClientOriginGuard } from '../accounts/csrf/client-origin.guard.js';
import { OwnAppGuard } from '../app-directory/own-app.guard.js';
import { OperationTokenGuard } from '../cli/operations/operation-token.guard.js';
import { CallerGuard } from '../client-auth/callers/caller.guard.js';
import type { AccessDeclaration, RouteAccess } from '../common/http/access.js';
import { MetricsGuard } from '../health/metrics/metrics.guard.js';
import { McpGuard } from '../mcp/mcp.guard.js';
import { InstanceGuard } from '../proxy/streams/instance.guard.js';

/** The guards that enforce each scheme. */
const GUARDS: Readonly<Record<AccessDeclaration['scheme'], readonly unknown[]>> = {
  public: [],
  management: [AdminCredentialGuard, AdminRoleGuard],
  caller: [CallerGuard],
  metrics: [MetricsGuard],
  person: [PersonGuard],
  identity: [IdentityGuard],
  mcp: [ClientOriginGuard, McpGuard],
  operation: [OperationTokenGuard],
  instance: [InstanceGuard],
};

/**
 * Refuses routes whose guards do not enforce their declaration: the declaration alone protects nothing; the access
 * decorators add both.
 *
 * @throws Error naming each of them: the service does not start.
 */
export function requireGuards(routes: readonly RouteAccess[]): void {
  const unguarded = routes.filter(({ access, guards }) => !guardsOf(access).every((guard) => guards.includes(guard)));
  if (unguarded.length === 0) return;
  const names = unguarded.map(({ route }) => route).join(', ');
  throw new Error(`Routes without the guards of the access they declare: ${names}. Use the access decorators.`);
}

function guardsOf({ scheme, ownApp }: AccessDeclaration): readonly unknown[] {
  return [...GUARDS[scheme], ...(ownApp ? [OwnAppGuard] : [])];
}
