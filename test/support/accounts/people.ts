import { createHash, randomBytes } from 'node:crypto';
import { CookieKeys } from '../../../src/accounts/sessions/console-cookies.js';
import {
  ORGANIZATION_COOKIE,
  SESSION_COOKIE,
  signedCookie,
} from '../../../src/accounts/sessions/session-cookie.rules.js';
import { Clock } from '../../../src/common/clock.js';
import type { ApiClient } from '../api-client.js';
import type { World } from '../world.js';

interface PersonOptions {
  /** Joined with `role`; absent: the person belongs to no organization. */
  readonly organizationId?: string;
  readonly role?: 'owner' | 'admin' | 'member';
  readonly email?: string;
  /** When the session ends; in a week when absent. */
  readonly sessionEndsAt?: Date;
}

/** A person who is signed in. */
export interface Person {
  readonly identityId: string;
  readonly email: string;
  readonly sessionId: string;
  /** `Cookie` header of the session alone. */
  readonly cookie: string;
  /** Calls as the console does: cookie, console header and origin. */
  readonly client: ApiClient;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** A human with their own session, who is a member of the organization given. */
export async function newPerson(
  world: World,
  {
    organizationId,
    role = 'owner',
    email = `${randomBytes(6).toString('hex')}@example.com`,
    sessionEndsAt,
  }: PersonOptions,
): Promise<Person> {
  const { dataSource } = world;
  const identityId = `user_${randomBytes(10).toString('hex')}`;
  await dataSource.query(
    "INSERT INTO identities (id, kind, name, email, created_at) VALUES ($1, 'human', 'A person', $2, now())",
    [identityId, email],
  );
  if (organizationId !== undefined) {
    await dataSource.query('INSERT INTO memberships VALUES ($1, $2, $3, now())', [organizationId, identityId, role]);
  }
  const { sessionId, cookie } = await newSession(world, identityId, sessionEndsAt);
  return { identityId, email, sessionId, cookie, client: clientOf(world, cookie) };
}

/** One more session of a person. */
export async function newSession(
  world: World,
  identityId: string,
  endsAt = new Date(world.gateway.app.get(Clock).nowMs() + WEEK_MS),
): Promise<{ readonly sessionId: string; readonly cookie: string }> {
  const sessionId = `session_${randomBytes(10).toString('hex')}`;
  const token = randomBytes(24).toString('hex');
  await world.dataSource.query(
    `INSERT INTO sessions (id, identity_id, token_hash, created_at, renewed_at, expires_at)
     VALUES ($1, $2, $3, now(), now(), $4)`,
    [sessionId, identityId, createHash('sha256').update(token).digest('hex'), endsAt],
  );
  return { sessionId, cookie: `${SESSION_COOKIE}=${signedCookie(token, cookieKeys(world).signing('session'))}` };
}

/** An organization of its own, and the person who owns it. */
export async function newOrganization(
  world: World,
): Promise<{ readonly organizationId: string; readonly owner: Person }> {
  const organizationId = `org_${randomBytes(10).toString('hex')}`;
  await world.dataSource.query("INSERT INTO organizations (id, name, created_at) VALUES ($1, 'Theirs', now())", [
    organizationId,
  ]);
  return { organizationId, owner: await newPerson(world, { organizationId }) };
}

/** A client that sends cookies as the console does. */
export function clientOf(world: Pick<World, 'with' | 'consoleOrigin'>, cookie: string): ApiClient {
  return world.with({ cookie, 'x-console-request': '1', origin: world.consoleOrigin });
}

/** A client that calls as a page without the console's header does. */
export function pageOf(world: Pick<World, 'with' | 'consoleOrigin'>, cookie?: string, address?: string): ApiClient {
  const headers = { origin: world.consoleOrigin, ...(cookie !== undefined && { cookie }) };
  return world.with(address === undefined ? headers : { ...headers, 'x-forwarded-for': address });
}

/** The cookie that makes an organization the current one, to be sent beside the session's. */
export function organizationCookie(world: World, organizationId: string): string {
  const value = signedCookie(organizationId, cookieKeys(world).signing('current organization'));
  return `${ORGANIZATION_COOKIE}=${value}`;
}

function cookieKeys({ gateway }: World): CookieKeys {
  return gateway.app.get(CookieKeys);
}
