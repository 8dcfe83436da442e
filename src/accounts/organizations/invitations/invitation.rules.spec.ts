import { describe, expect, it } from '@jest/globals';
import { instantOf } from '../../../common/clock.js';
import { Secret } from '../../../common/log/secret.js';
import { ROLES, type Role } from '../../access/admin-principal.js';
import {
  acceptanceOf,
  hashInvitationToken,
  type OfferedMembership,
  requireMayOffer,
  statusOf,
} from './invitation.rules.js';

const NOW_MS = 1_000_000;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const OFFER: OfferedMembership = {
  role: 'admin',
  email: null,
  expiresAt: instantOf(NOW_MS + 1),
  acceptedAt: null,
  acceptedBy: null,
  revokedAt: null,
};
const PERSON = { identityId: 'user_a', email: 'ann@example.com', memberRole: undefined };
const BEFORE = instantOf(NOW_MS - 1);

describe('statusOf', () => {
  it.each([
    ['pending', {}],
    ['pending', { expiresAt: instantOf(NOW_MS + 31_536_000_000) }],
    ['expired', { expiresAt: instantOf(NOW_MS) }],
    ['revoked', { revokedAt: BEFORE }],
    ['revoked', { revokedAt: BEFORE, expiresAt: BEFORE }],
    ['accepted', { acceptedAt: BEFORE, expiresAt: BEFORE }],
  ])('→ %s when %j', (status, ends) => {
    expect(statusOf({ ...OFFER, ...ends }, NOW_MS)).toBe(status);
  });
});

describe('acceptanceOf', () => {
  it('a person from outside → joins with the role offered', () => {
    const joined = { outcome: 'joined', role: 'admin' };
    expect(acceptanceOf(OFFER, PERSON, NOW_MS)).toEqual(joined);
    const newest = { ...OFFER, expiresAt: instantOf(NOW_MS + WEEK_MS + 60_000) };
    expect(acceptanceOf(newest, PERSON, NOW_MS)).toEqual(joined);
  });

  it.each<[Role, 'kept' | 'raised', Role]>([
    ['member', 'raised', 'admin'],
    ['admin', 'kept', 'admin'],
    ['owner', 'kept', 'owner'],
  ])('a member who is %s → %s, then %s', (memberRole, outcome, role) => {
    expect(acceptanceOf(OFFER, { ...PERSON, memberRole }, NOW_MS)).toEqual({ outcome, role });
  });

  it('accepted before and still a member → the role is returned', () => {
    const used = { ...OFFER, acceptedAt: BEFORE, acceptedBy: PERSON.identityId };
    expect(acceptanceOf(used, { ...PERSON, memberRole: 'member' }, NOW_MS)).toEqual({
      outcome: 'repeated',
      role: 'member',
    });
  });

  it.each<[string, Partial<OfferedMembership>]>([
    ['used by somebody else', { acceptedAt: BEFORE, acceptedBy: 'user_b' }],
    ['used by this person, who was removed since', { acceptedAt: BEFORE, acceptedBy: PERSON.identityId }],
    ['revoked', { revokedAt: BEFORE }],
    ['expired', { expiresAt: instantOf(NOW_MS) }],
    ['from a clock that was a year ahead', { expiresAt: instantOf(NOW_MS + 31_536_000_000) }],
    ['from one that was a little more than a minute ahead', { expiresAt: instantOf(NOW_MS + WEEK_MS + 60_001) }],
    ['revoked, for another address', { revokedAt: BEFORE, email: 'bob@example.com' }],
  ])('%s → the same not_found', (_, ends) => {
    expect(() => acceptanceOf({ ...OFFER, ...ends }, PERSON, NOW_MS)).toThrow(
      expect.objectContaining({ code: 'not_found', reason: 'invitation_gone' }),
    );
  });

  it('an invited e-mail address → must be the person’s, in any spelling', () => {
    const named = { ...OFFER, email: ' Ann@Example.com' };
    expect(acceptanceOf(named, PERSON, NOW_MS).outcome).toBe('joined');
    expect(() => acceptanceOf(named, { ...PERSON, email: 'ann@example.org' }, NOW_MS)).toThrow(
      expect.objectContaining({ code: 'forbidden', reason: 'invited_email_differs' }),
    );
  });
});

describe('requireMayOffer', () => {
  const ALLOWED: Readonly<Record<Role, readonly Role[]>> = {
    owner: ['owner', 'admin', 'member'],
    admin: ['admin', 'member'],
    member: [],
  };
  const cases = ROLES.flatMap((own) => ROLES.map((role): [Role, Role] => [own, role]));

  it.each(cases)('%s offers %s → only up to their own role, and members nothing', (own, role) => {
    if (ALLOWED[own].includes(role)) expect(() => requireMayOffer(own, role)).not.toThrow();
    else expect(() => requireMayOffer(own, role)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('a person who has just left → may offer nothing', () => {
    expect(() => requireMayOffer(undefined, 'member')).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });
});

describe('hashInvitationToken', () => {
  it('a token → its SHA-256, not itself', () => {
    expect(hashInvitationToken(new Secret('abc'))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
