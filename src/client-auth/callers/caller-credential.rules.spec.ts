import { describe, expect, it } from '@jest/globals';
import { requireCredential, requireNamedUser } from './caller-credential.rules.js';

describe('requireCredential', () => {
  it.each([
    ['Bearer gw_abc', 'gw_abc'],
    ['bearer   gw_abc ', 'gw_abc'],
    ['BEARER\tgw_abc', 'gw_abc'],
    ['gw_abc', 'gw_abc'],
    ['  gw_abc', 'gw_abc'],
  ])('Authorization: %j → the credential without scheme and blanks', (sent, value) => {
    expect(requireCredential({ authorization: sent }, ['authorization'])).toEqual({ value, header: 'authorization' });
  });

  it('several candidates → the first with a value, and only that one', () => {
    const headers = { authorization: 'Bearer ', 'x-api-key': 'gw_second', 'x-token': 'gw_third' };
    expect(requireCredential(headers, ['authorization', 'x-api-key', 'x-token']).value).toBe('gw_second');
  });

  it('a header that is not a candidate → ignored', () => {
    expect(() => requireCredential({ 'x-api-key': 'gw_a', cookie: 'k=gw_a' }, ['authorization'])).toThrow(
      expect.objectContaining({ code: 'auth_required', status: 401 }),
    );
  });

  it.each(['', 'Bearer', 'Bearer  ', `Bearer ${'x'.repeat(9000)}`])('%.12j → auth_required', (authorization) => {
    expect(() => requireCredential({ authorization }, ['authorization'])).toThrow(
      expect.objectContaining({ code: 'auth_required' }),
    );
  });
});

describe('requireNamedUser', () => {
  it.each(['u', 'user-1@example.com', '!~', 'x'.repeat(128)])('%.20s → accepted', (value) => {
    expect(requireNamedUser({ 'x-end-user-id': value }, 'x-end-user-id')).toBe(value);
  });

  it.each(['', 'two words', 'tab\there', 'ümlaut', 'x'.repeat(129), 'a, b'])(
    '%.20j → 400 naming the header',
    (value) => {
      expect(() => requireNamedUser({ 'x-end-user-id': value }, 'x-end-user-id')).toThrow(
        expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('x-end-user-id') }),
      );
    },
  );

  it('missing → 400 saying that it is required', () => {
    expect(() => requireNamedUser({}, 'x-user')).toThrow('x-user: header is required');
  });
});
