import { describe, expect, it } from '@jest/globals';
import { readShape } from '../../common/fields/read-shape.js';
import { comparableEmail, EmailAddress } from './email-address.js';

class Body {
  @EmailAddress({ description: 'An address.' })
  email: string;
}

describe('EmailAddress', () => {
  it.each([
    'ann@example.com',
    'admin@localhost',
    'Ann+x@Example.COM',
    'ü@exämple.de',
    `${'a'.repeat(242)}@example.com`,
  ])('%s → accepted', (email) => {
    expect(readShape(Body, { email }).email).toBe(email);
  });

  it('blanks around it → dropped', () => {
    expect(readShape(Body, { email: ' ann@example.com\n' }).email).toBe('ann@example.com');
  });

  it.each([
    '',
    'ann',
    '@example.com',
    'ann@',
    'a b@example.com',
    'a@b@c',
    'a\u0001@b',
    `${'a'.repeat(243)}@example.com`,
  ])('%j → refused', (email) => {
    expect(() => readShape(Body, { email })).toThrow('email: must be an e-mail address');
  });
});

describe('comparableEmail', () => {
  it('case and blanks → make no difference', () => {
    expect(comparableEmail(' Ann@Example.COM ')).toBe(comparableEmail('ann@example.com'));
  });
});
