import { describe, expect, it } from '@jest/globals';
import { requirePermission } from './admin-permission.rules.js';

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
  ] as const)('contract-admin 6.3: %s with grant %s on a %s route → %p', (role, grant, need, code) => {
    const ask = () => requirePermission({ role, grant }, need);
    if (code === undefined) expect(ask).not.toThrow();
    else expect(ask).toThrow(expect.objectContaining({ code, status: 403 }));
  });
});
