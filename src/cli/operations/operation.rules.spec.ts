import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../../common/log/secret.js';
import { proofHash, provesHash } from '../../common/proof-hash.rules.js';
import {
  browserProofOf,
  isLoopbackRedirect,
  operationIdOf,
  shownUserCode,
  typedUserCode,
  userCodeOf,
} from './operation.rules.js';

const DEPLOYMENT = '6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21';
const token = fc.string({ unit: fc.constantFrom(...'ABCXYZabcxyz0189_-'), minLength: 32, maxLength: 64 });

describe('derivations of a token', () => {
  it('id → in the documented format', () => {
    expect(operationIdOf(new Secret('a'.repeat(32)))).toBe(
      'op:3ba3f5f43b92602683c19aee62a20342b084dd5971ddd33808d81a328879a547',
    );
  });

  it('any token → the same proof and code each time, different ones for another token, deployment or attempt', () => {
    fc.assert(
      fc.property(token, (text) => {
        const own = new Secret(text);
        const proofs = [own, new Secret(`${text}x`)].map((one) => browserProofOf(one, DEPLOYMENT).reveal());
        expect(browserProofOf(own, DEPLOYMENT).reveal()).toBe(proofs[0]);
        expect(new Set([...proofs, browserProofOf(own, 'other').reveal()]).size).toBe(3);
        const codes = [0, 1].map((attempt) => userCodeOf(own, DEPLOYMENT, attempt).reveal());
        expect(new Set(codes).size).toBe(2);
        expect(userCodeOf(own, DEPLOYMENT, 0).reveal()).toMatch(/^[ABCDEFGHJKMNPQRSTUVWXYZ23456789]{8}$/);
      }),
    );
  });

  it('codes of many tokens → every symbol about equally often', () => {
    const counts = new Map<string, number>();
    for (let at = 0; at < 4_000; at++) {
      for (const symbol of userCodeOf(new Secret(`token-${at}`), DEPLOYMENT, 0).reveal()) {
        counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(31);
    const mean = (4_000 * 8) / 31;
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(mean * 0.2);
  });
});

describe('typed user codes', () => {
  it('any code, as a person may type it → itself', () => {
    fc.assert(
      fc.property(token, fc.constantFrom('-', ' ', '', ' - ', '\t'), (text, between) => {
        const code = userCodeOf(new Secret(text), DEPLOYMENT, 0);
        const [first = '', last = ''] = shownUserCode(code).split('-');
        expect(typedUserCode(` ${first.toLowerCase()}${between}${last} `)?.reveal()).toBe(code.reveal());
      }),
    );
  });

  it.each(['', 'ABCDEFG', 'ABCDEFGHJ', 'ABCD-EFG0', 'ABCDEFGI', 'ABCDEFG1', 'ＡBCDEFGH'])('%j → none', (typed) => {
    expect(typedUserCode(typed)).toBeUndefined();
  });
});

describe('loopback redirects', () => {
  it.each([1, 80, 8080, 65_535])('port %i → accepted', (port) => {
    expect(isLoopbackRedirect(`http://127.0.0.1:${port}/callback`)).toBe(true);
  });

  it('any other text → refused', () => {
    const near = fc.constantFrom('http://127.0.0.1:8080/callback', 'http://localhost:8080/callback');
    fc.assert(
      fc.property(near, fc.string({ minLength: 1 }), fc.nat(40), (address, inserted, at) => {
        const text = `${address.slice(0, at)}${inserted}${address.slice(at)}`;
        const url = URL.canParse(text) ? new URL(text) : undefined;
        if (isLoopbackRedirect(text)) {
          expect([url?.protocol, url?.hostname, url?.pathname, url?.href]).toEqual([
            'http:',
            '127.0.0.1',
            '/callback',
            text.replace(':80/', '/'),
          ]);
        }
      }),
    );
  });
});

describe('proofs', () => {
  it('a proof → proves its own hash and no other', () => {
    const stored = proofHash(new Secret('one'));
    expect([provesHash(new Secret('one'), stored), provesHash(new Secret('two'), stored)]).toEqual([true, false]);
    expect(provesHash(new Secret('one'), null)).toBe(false);
  });
});
