import { randomBytes, randomInt } from 'node:crypto';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import { auditEntries } from '../accounts/audit-entries.js';
import type { ApiAnswer, ApiClient, ApiRequest } from '../api-client.js';
import { startWorld, type World } from '../world.js';

/** The input of a registration. */
export interface SignUpBody {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly invitationToken?: string;
  readonly bootstrapKey?: string;
}

/** A world that believes `X-Forwarded-For`, so that a test can come from as many addresses as it needs. */
export function startConsoleWorld({ env, ...options }: Parameters<typeof startWorld>[0] = {}): Promise<World> {
  return startWorld({ env: { TRUSTED_PROXIES: '127.0.0.1', ...env }, ...options });
}

/** An address without earlier calls, in this run or in another one on the same Redis. */
export function newAddress(): string {
  return [randomInt(1, 200), randomInt(256), randomInt(256), randomInt(256)].join('.');
}

/** A browser with these cookies, of a page of the console, from a separate address unless one is given. */
export function browserOf(
  world: Pick<World, 'with' | 'consoleOrigin'>,
  { cookie = '', address = newAddress() } = {},
): ApiClient {
  const headers = { 'x-forwarded-for': address, 'x-console-request': '1', origin: world.consoleOrigin };
  return world.with(cookie === '' ? headers : { ...headers, cookie });
}

/** Somebody nobody knows yet. */
export function newSignUp(members: Partial<SignUpBody> = {}): SignUpBody {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  return { name: 'Ada Lovelace', email, password: 'correct horse battery', ...members };
}

export function signUpAt(client: ApiClient, body: object, request?: ApiRequest): Promise<ApiAnswer> {
  return client.post('/v1/auth/sign-up/email', body, request);
}

export function signInAt(
  client: ApiClient,
  { email, password }: Pick<SignUpBody, 'email' | 'password'>,
  request?: ApiRequest,
): Promise<ApiAnswer> {
  return client.post('/v1/auth/sign-in/email', { email, password }, request);
}

/** Somebody who can sign in. */
export interface RegisteredPerson {
  readonly id: string;
  readonly typed: SignUpBody;
  /** `Cookie` header of their first session. */
  readonly cookie: string;
}

/** Somebody who has just registered with a password, where registration is open. */
export async function registered(world: World): Promise<RegisteredPerson> {
  const typed = newSignUp();
  const answer = await signUpAt(browserOf(world), typed);
  if (answer.status !== 200) throw new Error(`sign-up: ${answer.status} ${answer.text}`);
  return { typed, id: answer.body.user.id, cookie: sessionCookieOf(answer) };
}

/** The cookie of a name that an answer sets, with its flags. */
export function setCookieOf({ headers }: Pick<ApiAnswer, 'headers'>, name: string): string | undefined {
  return headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`));
}

/** `Cookie` header of the session that an answer has begun. */
export function sessionCookieOf(answer: Pick<ApiAnswer, 'headers'>): string {
  const cookie = setCookieOf(answer, SESSION_COOKIE)?.split(';')[0];
  if (cookie === undefined || cookie === `${SESSION_COOKIE}=`) throw new Error('the answer begins no session');
  return cookie;
}

/** The audit entries of an organization, oldest first. */
export async function trailOf(world: World, organizationId: string): Promise<string[]> {
  return (await auditEntries(world, organizationId)).map(({ action }) => action);
}
