import { describe, expect, it } from '@jest/globals';
import { ownOrganizationId } from './organization.rules.js';

describe('ownOrganizationId', () => {
  it('a person → always the same organization', () => {
    expect(ownOrganizationId('user_0a1b2c3d4e5f6g7h8i9j')).toBe('org_0a1b2c3d4e5f6g7h8i9j');
  });

  it.each(['service-private-1', 'user_', 'user_0a1b2c3d4e5f6g7h8i9jk', 'org_0a1b2c3d4e5f6g7h8i9j'])(
    '%s → nobody with an organization of their own',
    (id) => {
      expect(() => ownOrganizationId(id)).toThrow('Only people');
    },
  );
});
