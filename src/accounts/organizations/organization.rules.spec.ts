import { describe, expect, it } from '@jest/globals';
import { ROLES, type Role } from '../access/admin-principal.js';
import { ownOrganizationId, requireMayChange, requireOwnerLeft, rolesBeyond } from './organization.rules.js';

const ENDS = [...ROLES, null] as const;
/** Allowed changes by actor role and current role; `-` ends the membership. */
const ALLOWED: Readonly<Record<Role, Readonly<Record<Role, readonly string[]>>>> = {
  owner: {
    owner: ['owner', 'admin', 'member', '-'],
    admin: ['owner', 'admin', 'member', '-'],
    member: ['owner', 'admin', 'member', '-'],
  },
  admin: { owner: [], admin: ['admin', 'member', '-'], member: ['admin', 'member', '-'] },
  member: { owner: [], admin: [], member: [] },
};
const CASES = ROLES.flatMap((actor) =>
  ROLES.flatMap((from) =>
    ENDS.map((to): [Role, Role, Role | null, boolean] => {
      return [actor, from, to, ALLOWED[actor][from].includes(to ?? '-')];
    }),
  ),
);

describe('requireMayChange', () => {
  it.each(CASES)('%s changes another %s to %s → allowed: %s', (actorRole, from, to, isAllowed) => {
    const change = () => requireMayChange({ actorRole, isSelf: false, from, to });
    if (isAllowed) expect(change).not.toThrow();
    else expect(change).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it.each(ROLES)('%s leaves → allowed', (role) => {
    expect(() => requireMayChange({ actorRole: role, isSelf: true, from: role, to: null })).not.toThrow();
  });

  it.each([
    ['member', 'admin'],
    ['member', 'member'],
    ['admin', 'owner'],
  ] as const)('%s changes their own role to %s → forbidden', (role, to) => {
    expect(() => requireMayChange({ actorRole: role, isSelf: true, from: role, to })).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });
});

describe('requireOwnerLeft', () => {
  const person = { kind: 'human', role: 'owner' } as const;

  it.each(['admin', 'member', null] as const)('the last owner, to %s → last_owner', (to) => {
    expect(() => requireOwnerLeft(person, to, 1)).toThrow(expect.objectContaining({ code: 'last_owner', status: 409 }));
    expect(() => requireOwnerLeft(person, to, 2)).not.toThrow();
  });

  it('the last owner, to owner → nothing is lost', () => {
    expect(() => requireOwnerLeft(person, 'owner', 1)).not.toThrow();
  });

  it('anyone but people who are owners → nothing is lost', () => {
    expect(() => requireOwnerLeft({ kind: 'service', role: 'owner' }, null, 1)).not.toThrow();
    expect(() => requireOwnerLeft({ kind: 'human', role: 'admin' }, null, 1)).not.toThrow();
  });
});

describe('rolesBeyond', () => {
  it.each<[Role | null, Role[]]>([
    [null, ['owner', 'admin', 'member']],
    ['member', ['owner', 'admin', 'member']],
    ['admin', ['owner']],
    ['owner', []],
  ])('%s → cannot offer %j', (own, roles) => {
    expect(rolesBeyond(own)).toEqual(roles);
  });
});

describe('ownOrganizationId', () => {
  it('a person → always the same organization', () => {
    expect(ownOrganizationId('user_0a1b2c3d4e5f6g7h8i9j')).toBe('org_0a1b2c3d4e5f6g7h8i9j');
  });

  it.each(['service-private-1', 'user_', 'user_0a1b2c3d4e5f6g7h8i9jk', 'org_0a1b2c3d4e5f6g7h8i9j'])(
    '%s → a person without an organization',
    (id) => {
      expect(() => ownOrganizationId(id)).toThrow('Only people');
    },
  );
});
