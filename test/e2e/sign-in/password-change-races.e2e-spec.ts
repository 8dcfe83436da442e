import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AuditTrail } from '../../../src/accounts/audit/audit-trail.js';
import { Sessions } from '../../../src/accounts/sessions/sessions.service.js';
import { GatewayError } from '../../../src/common/errors/gateway-error.js';
import { eventually } from '../../support/eventually.js';
import { waitingStatements } from '../../support/platform/lock-waits.js';
import {
  browserOf,
  type RegisteredPerson,
  registered,
  sessionCookieOf,
  signInAt,
  startConsoleWorld,
} from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

const NEW_PASSWORD = 'another battery horse';

let world: World;
let ada: RegisteredPerson;

beforeAll(async () => {
  world = await startConsoleWorld({ env: { ALLOW_ADDITIONAL_REGISTRATIONS: 'true' } });
});
beforeEach(async () => {
  ada = await registered(world);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(() => world.stop());

const signIn = () => signInAt(browserOf(world), ada.typed);

function changePassword() {
  const typed = { currentPassword: ada.typed.password, newPassword: NEW_PASSWORD };
  return browserOf(world, { cookie: ada.cookie }).post('/v1/auth/change-password', typed);
}

async function isSignedIn(cookie: string): Promise<boolean> {
  const { body } = await browserOf(world, { cookie }).get('/v1/auth/get-session');
  return body !== null;
}

/** A transaction that is halted until released. */
interface Halt {
  readonly isReached: () => boolean;
  readonly letGo: () => void;
}

function newHalt(): { readonly halt: Halt; readonly pass: () => Promise<void> } {
  const gate = Promise.withResolvers<void>();
  let reached = false;
  const pass = () => {
    reached = true;
    return gate.promise;
  };
  return { halt: { isReached: () => reached, letGo: gate.resolve }, pass };
}

/** Halts the next transaction that begins a session, before it does. */
function haltBeforeSession(): Halt {
  const sessions = world.gateway.app.get(Sessions);
  const open = sessions.open.bind(sessions);
  const { halt, pass } = newHalt();
  jest.spyOn(sessions, 'open').mockImplementationOnce(async (...args) => {
    await pass();
    return open(...args);
  });
  return halt;
}

/** Halts the next transaction that leaves an entry of the trail, before it does, or fails instead. */
function haltBeforeEntry({ failing = false } = {}): Halt {
  const trail = world.gateway.app.get(AuditTrail);
  const record = trail.record.bind(trail);
  const { halt, pass } = newHalt();
  jest.spyOn(trail, 'record').mockImplementationOnce(async (...args) => {
    await pass();
    if (failing)
      throw new GatewayError('service_unavailable', { reason: 'database_unavailable', retryAfterSeconds: 1 });
    return record(...args);
  });
  return halt;
}

/** Starts `first`, and `second` while it is halted; releases it when `second` waits for it in the database. */
async function overlapping<T>(halt: Halt, first: () => Promise<T>, second: () => Promise<T>): Promise<[T, T]> {
  const begun = first();
  await eventually(halt.isReached, { withinMs: 10_000 });
  let isOver = false;
  const meanwhile = second().finally(() => {
    isOver = true;
  });
  await eventually(async () => isOver || (await waitingStatements(world.dataSource)).length > 0, { withinMs: 10_000 });
  const waited = await waitingStatements(world.dataSource);
  halt.letGo();
  const answers: [T, T] = [await begun, await meanwhile];
  expect(waited).toEqual([expect.stringContaining('passwords')]);
  return answers;
}

/** Ids of the sessions that a person has, whichever password they were begun with. */
async function sessionsOf({ id }: RegisteredPerson): Promise<string[]> {
  const rows: { id: string }[] = await world.dataSource.query('SELECT id FROM sessions WHERE identity_id = $1', [id]);
  return rows.map((row) => row.id);
}

describe('a password changed during a sign-in with it (ADR 0022)', () => {
  it('the sign-in is under way → the change waits for it, and ends the new session', async () => {
    const [signedIn, changed] = await overlapping(haltBeforeSession(), signIn, changePassword);
    expect([signedIn.status, changed.status]).toEqual([200, 200]);
    expect(await isSignedIn(sessionCookieOf(signedIn))).toBe(false);
    expect(await isSignedIn(sessionCookieOf(changed))).toBe(true);
    expect(await sessionsOf(ada)).toHaveLength(1);
  });

  it('the change is under way → the sign-in waits for it, and is refused', async () => {
    const [changed, signedIn] = await overlapping(haltBeforeEntry(), changePassword, signIn);
    expect([changed.status, signedIn.status]).toEqual([200, 401]);
    expect(signedIn.headers.getSetCookie()).toEqual([]);
    expect(await isSignedIn(sessionCookieOf(changed))).toBe(true);
    expect(await sessionsOf(ada)).toHaveLength(1);
  });

  it('the change fails → the waiting sign-in starts a session', async () => {
    const [failed, signedIn] = await overlapping(haltBeforeEntry({ failing: true }), changePassword, signIn);
    expect([failed.status, signedIn.status]).toEqual([503, 200]);
    expect([await isSignedIn(ada.cookie), await isSignedIn(sessionCookieOf(signedIn))]).toEqual([true, true]);
  });
});
