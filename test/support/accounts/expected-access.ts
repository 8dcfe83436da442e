import type { RouteAccess } from '../../../src/common/http/access.js';

/** A caller, with everything that access depends on. */
export interface JudgedCaller {
  /** Their credential; `foreign` is a credential of another kind, such as an application's key. */
  readonly credential: 'none' | 'foreign' | 'key' | 'session';
  readonly role?: 'owner' | 'admin' | 'member';
  readonly grant?: 'read' | 'manage';
  /** Of the account whose application is asked for; `none`: they belong to nothing. */
  readonly account?: 'own' | 'another' | 'none';
  /** Whether a page of another site sends the request for them. */
  readonly isElsewhere?: boolean;
  /** Whether they name no origin, as programs do. */
  readonly lacksOrigin?: boolean;
  /** Whether their session comes without what only the console's own pages can send with it. */
  readonly lacksConsoleHeader?: boolean;
}

/** How a route refuses before it does anything. `let through`: any other answer of the route. */
export type ExpectedAccess =
  | 'let through'
  | '401 auth_required'
  | '403 forbidden'
  | '403 session_required'
  | '403 grant_insufficient'
  | '403 no_eligible_organization'
  | '404 app_not_found';

const RANKS = { member: 0, admin: 1, owner: 2 };

/**
 * The permission matrix of docs/reference/management-api.md#roles-and-grants, in the order of its checks, from the
 * declaration alone.
 */
export function expectedAccess({ route: path, access: route }: RouteAccess, caller: JudgedCaller): ExpectedAccess {
  if (route.firstParty && (caller.isElsewhere || (caller.lacksConsoleHeader && !path.startsWith('GET ')))) {
    return '403 forbidden';
  }
  if (route.exactOrigin && caller.lacksOrigin) return '403 forbidden';
  if (route.scheme === 'mcp') {
    if (caller.isElsewhere) return '403 forbidden';
    return caller.credential === 'key' ? 'let through' : '401 auth_required';
  }
  if (route.scheme === 'public') return 'let through';
  // Only the token of the operation in the path is let through; nobody here has it.
  if (route.scheme === 'operation') return '403 forbidden';
  if (caller.credential === 'none' || caller.credential === 'foreign') return '401 auth_required';
  if (caller.lacksConsoleHeader) return '401 auth_required';
  if (route.scheme === 'person') return caller.credential === 'session' ? 'let through' : '403 session_required';
  if (route.scheme === 'identity') return 'let through';
  if (caller.account === 'none') return '403 no_eligible_organization';
  if (route.ownApp && caller.account !== 'own') return '404 app_not_found';
  const least = route.role ?? (route.needs === 'read' ? 'member' : 'admin');
  if (RANKS[caller.role ?? 'member'] < RANKS[least]) return '403 forbidden';
  if (route.credential === 'session' && caller.credential === 'key') return '403 session_required';
  if (route.credential === 'key' && caller.credential === 'session') return '403 forbidden';
  if (route.needs !== 'read' && caller.grant === 'read') return '403 grant_insufficient';
  return 'let through';
}
