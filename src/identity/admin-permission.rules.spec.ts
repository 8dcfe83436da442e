import { describe, expect, it } from '@jest/globals';
import { isAtLeast, requirePermission } from './admin-permission.rules.js';

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

  it('a role that is too low and a key on a session route → the role is told', () => {
    const caller = { role: 'member', grant: 'read', credentialType: 'apiKey' } as const;
    expect(codeOf(() => requirePermission(caller, { needs: 'write', credential: 'session' }))).toBe('forbidden');
  });

  it('a route that does not say what it needs → is taken for a writing one', () => {
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
