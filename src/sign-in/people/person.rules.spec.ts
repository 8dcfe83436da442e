import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { thirdPartyPersonOf } from './person.rules.js';

const CLAIMS = {
  iss: 'https://accounts.google.com',
  sub: '110248495921238986420',
  email: 'Ada@Example.com',
  email_verified: true,
  name: 'Ada Lovelace',
  picture: 'https://images.example/ada.png',
};

describe('what an identity token says of a person', () => {
  it('all claims → adopted, the e-mail address in its comparable form', () => {
    expect(thirdPartyPersonOf(CLAIMS)).toEqual({
      issuer: CLAIMS.iss,
      subject: CLAIMS.sub,
      email: 'ada@example.com',
      emailVerified: true,
      name: 'Ada Lovelace',
      image: CLAIMS.picture,
    });
  });

  it('only subject and e-mail address → named by the address; not verified unless the claim is true', () => {
    expect(
      thirdPartyPersonOf({ iss: 'https://a.example', sub: '1', email: 'ada@example.com', email_verified: 'true' }),
    ).toEqual({
      issuer: 'https://a.example',
      subject: '1',
      email: 'ada@example.com',
      emailVerified: false,
      name: 'ada@example.com',
      image: null,
    });
  });

  it.each([
    { email: undefined },
    { email: ['ada@example.com'] },
    { email: 'ada' },
    { email: 'a b@example.com' },
    { email: `${'a'.repeat(250)}@b.example` },
    { email: 'a\u0000@example.com' },
    { sub: '' },
    { sub: 's'.repeat(256) },
    { sub: 'a\u0000' },
  ])('%o → no name', (wrong) => expect(thirdPartyPersonOf({ ...CLAIMS, ...wrong })).toBeUndefined());

  it.each(['http://images.example/x', 'javascript:alert(1)', 'https://a b', `https://${'a'.repeat(2_048)}`, 7])(
    'picture %s → none',
    (picture) => expect(thirdPartyPersonOf({ ...CLAIMS, picture })?.image).toBeNull(),
  );

  it('any name → text of 1 to 100 characters without control characters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.anything()), (name) => {
        const named = thirdPartyPersonOf({ ...CLAIMS, name })?.name ?? '';
        expect(named.length >= 1 && named.length <= 100).toBe(true);
        expect(named.isWellFormed() && !/\p{Cc}/u.test(named)).toBe(true);
      }),
    );
  });
});
