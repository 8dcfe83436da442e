import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../common/errors/gateway-error.js';
import {
  actionSourceOf,
  isAtLeast,
  managementKeyRefused,
  readAdminBearer,
  requirePermission,
} from './admin-access.rules.js';

const KEY = `gw_mgmt_${'Ab3'.repeat(16)}`;
const ACCESS = `gw_oat_conn_${'a1'.repeat(10)}.${'Ab3'.repeat(14)}_`;
const PLAIN = 'Bearer realm="management"';
const INVALID = 'Bearer realm="management", error="invalid_token"';

/** The plaintext of an accepted credential. */
function accepted(header: string | undefined): string {
  const bearer = readAdminBearer(header);
  return 'key' in bearer ? bearer.key.reveal() : bearer.access.token.reveal();
}

function refusalOf(header: string | undefined): GatewayError {
  try {
    readAdminBearer(header);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('readAdminBearer', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('scheme %s → the key, whatever the case', (scheme) => {
    expect(accepted(`${scheme} ${KEY}`)).toBe(KEY);
  });

  it('an access token → the token and its connection', () => {
    const bearer = readAdminBearer(`Bearer ${ACCESS}`);
    if (!('access' in bearer)) throw new Error('was read as a key');
    expect(bearer.access).toMatchObject({ kind: 'access', connectionId: `conn_${'a1'.repeat(10)}` });
    expect(bearer.access.token.reveal()).toBe(ACCESS);
  });

  it.each([
    ['no header', undefined, PLAIN],
    ['an empty header', '', PLAIN],
    ['the scheme alone', 'Bearer', PLAIN],
    ['another scheme', `Basic ${KEY}`, PLAIN],
    ['the key without a scheme', KEY, PLAIN],
    ['two tokens', `Bearer ${KEY} ${KEY}`, PLAIN],
    ['an application key', 'Bearer gw_0123456789012345678901234567890123456789012345678', INVALID],
    ['an access token without its connection', `Bearer gw_oat_${'a'.repeat(48)}`, INVALID],
    ['a refresh token', `Bearer ${ACCESS.replace('gw_oat_', 'gw_ort_')}`, INVALID],
    ['the prefix in capitals', `Bearer ${KEY.replace('gw_mgmt_', 'GW_MGMT_')}`, INVALID],
    ['a random part below 128 bits', `Bearer gw_mgmt_${'a'.repeat(21)}`, INVALID],
    ['a key beyond any length we make', `Bearer gw_mgmt_${'a'.repeat(201)}`, INVALID],
    ['two keys with a comma', `Bearer ${KEY},${KEY}`, INVALID],
  ])('%s → 401 auth_required with the matching challenge', (_name, header, challenge) => {
    const { code, status, headers } = refusalOf(header);
    expect({ code, status, headers }).toEqual({
      code: 'auth_required',
      status: 401,
      headers: { 'www-authenticate': challenge },
    });
  });

  it('any text → a key of the documented form, or a refusal that does not repeat it', () => {
    const piece = fc.constantFrom(
      'Bearer',
      'bearer ',
      ' ',
      KEY,
      ACCESS,
      'gw_oat_',
      '.',
      'gw_mgmt_',
      '\t',
      ',',
      'a'.repeat(22),
      'ü',
    );
    const header = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(header, (text) => {
        try {
          expect(accepted(text)).toMatch(
            /^(?:gw_mgmt_[A-Za-z0-9_-]{22,200}|gw_oat_conn_[0-9a-z]{20}\.[A-Za-z0-9_-]{43})$/,
          );
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.message).toBe('A valid credential is required.');
        }
      }),
    );
  });
});

describe('managementKeyRefused', () => {
  it('an invalid key → differs from a missing one only by the challenge', () => {
    const { code, message, headers } = managementKeyRefused();
    expect({ code, message }).toEqual({ code: 'auth_required', message: refusalOf(undefined).message });
    expect(headers).toEqual({ 'www-authenticate': INVALID });
  });
});

describe('actionSourceOf', () => {
  it.each([
    ['cli', 'cli'],
    ['mcp', 'mcp'],
    [undefined, 'api'],
    ['web', 'api'],
    ['system', 'api'],
    ['CLI', 'api'],
    ['cli, mcp', 'api'],
    [['cli', 'mcp'], 'api'],
  ])('X-Client: %p → %s', (client, source) => {
    expect(actionSourceOf(client)).toBe(source);
  });
});

function codeOf(ask: () => void): string | undefined {
  try {
    ask();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('requirePermission', () => {
  it.each([
    ['owner', 'manage', 'write', undefined],
    ['admin', 'manage', 'write', undefined],
    ['member', 'manage', 'write', 'forbidden'],
    ['owner', 'read', 'write', 'grant_insufficient'],
    ['admin', 'read', 'write', 'grant_insufficient'],
    ['member', 'read', 'write', 'forbidden'],
    ['owner', 'manage', 'read', undefined],
    ['member', 'manage', 'read', undefined],
    ['member', 'read', 'read', undefined],
  ] as const)('%s with grant %s on a %s route → %p', (role, grant, needs, code) => {
    expect(codeOf(() => requirePermission({ role, grant, credentialType: 'apiKey' }, { needs }))).toBe(code);
  });

  it.each([
    ['a key on a session route', 'apiKey', 'session', 'manage', 'session_required'],
    ['a connection on a session route', 'oauth', 'session', 'manage', 'session_required'],
    ['a session on a session route', 'session', 'session', 'manage', undefined],
    ['a session where a key is meant', 'session', 'key', 'manage', 'forbidden'],
    ['a key where a key is meant', 'apiKey', 'key', 'manage', undefined],
    ['a read key on a session route: the kind before the grant', 'apiKey', 'session', 'read', 'session_required'],
  ] as const)('%s → %p', (_, credentialType, credential, grant, code) => {
    const caller = { role: 'owner', grant, credentialType } as const;
    expect(codeOf(() => requirePermission(caller, { needs: 'write', credential }))).toBe(code);
  });

  it.each([
    ['member', 'admin', 'forbidden'],
    ['admin', 'admin', undefined],
    ['admin', 'owner', 'forbidden'],
    ['owner', 'owner', undefined],
  ] as const)('a %s on a reading route for %s → %p', (role, least, code) => {
    const caller = { role, grant: 'manage', credentialType: 'session' } as const;
    expect(codeOf(() => requirePermission(caller, { needs: 'read', role: least }))).toBe(code);
  });

  it('a role that is too low and a key on a session route → the error names the role', () => {
    const caller = { role: 'member', grant: 'read', credentialType: 'apiKey' } as const;
    expect(codeOf(() => requirePermission(caller, { needs: 'write', credential: 'session' }))).toBe('forbidden');
  });

  it('a route without a declared permission → requires write', () => {
    const caller = { role: 'member', grant: 'manage', credentialType: 'session' } as const;
    expect(codeOf(() => requirePermission(caller, {}))).toBe('forbidden');
  });
});

describe('isAtLeast', () => {
  it('owner > admin > member', () => {
    const roles = ['owner', 'admin', 'member'] as const;
    expect(roles.map((role) => roles.map((other) => isAtLeast(role, other)))).toEqual([
      [true, true, true],
      [false, true, true],
      [false, false, true],
    ]);
  });
});
