import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../../common/log/secret.js';
import { isIssuedHere, newPair, presentedToken } from './oauth-token.rules.js';

const CONNECTION = `conn_${'a1'.repeat(10)}`;
const SECRET = new Secret('the secret of this service, at least 32 bytes');

const pair = () => newPair(CONNECTION, () => randomBytes(16), SECRET);

function refreshed(text: string) {
  const presented = presentedToken(text);
  if (presented === undefined) throw new Error('not a token');
  return presented;
}

describe('presentedToken', () => {
  it('both tokens of a pair → their kind and connection', () => {
    const { access, refresh } = pair();
    expect(presentedToken(access.reveal())).toMatchObject({ kind: 'access', connectionId: CONNECTION });
    expect(presentedToken(refresh.reveal())).toMatchObject({ kind: 'refresh', connectionId: CONNECTION });
  });

  it.each([
    ['another prefix', `gw_oxt_${CONNECTION}.${'a'.repeat(43)}`],
    ['capitals', `GW_OAT_${CONNECTION}.${'a'.repeat(43)}`],
    ['a short connection', `gw_oat_conn_a1.${'a'.repeat(43)}`],
    ['a short end', `gw_oat_${CONNECTION}.${'a'.repeat(42)}`],
    ['a long end', `gw_oat_${CONNECTION}.${'a'.repeat(44)}`],
    ['a line end', `gw_oat_${CONNECTION}.${'a'.repeat(43)}\n`],
    ['nothing', ''],
  ])('%s → none', (_name, text) => {
    expect(presentedToken(text)).toBeUndefined();
  });

  it('any text → none, or a token whose text is unchanged', () => {
    const piece = fc.constantFrom('gw_oat_', 'gw_ort_', CONNECTION, '.', 'a'.repeat(43), '-', ' ');
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (sent) => {
        const presented = presentedToken(sent);
        if (presented !== undefined) expect(presented.token.reveal()).toBe(sent);
      }),
    );
  });
});

describe('isIssuedHere', () => {
  it('a refresh token of ours → yes, even under the previous secret', () => {
    const presented = refreshed(pair().refresh.reveal());
    expect(isIssuedHere(presented, [SECRET])).toBe(true);
    expect(isIssuedHere(presented, [new Secret('a new secret'), SECRET])).toBe(true);
  });

  it('another secret, another connection, any other character → no', () => {
    const text = pair().refresh.reveal();
    expect(isIssuedHere(refreshed(text), [new Secret('another secret')])).toBe(false);
    expect(isIssuedHere(refreshed(text.replace('conn_a', 'conn_b')), [SECRET])).toBe(false);
    for (let at = text.length - 43; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(isIssuedHere(refreshed(changed), [SECRET])).toBe(false);
    }
  });
});
