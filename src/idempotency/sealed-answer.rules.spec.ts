import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Secret } from '../common/log/secret.js';
import { AuthSecrets } from '../platform/secrets/signing-secrets.js';
import { openAnswer, sealAnswer } from './sealed-answer.rules.js';

const ANSWER = '{"key":"gw_shown-once","name":"Ünïcode"}';
const IV = Buffer.alloc(12, 3);
const OURS = new AuthSecrets(new Secret('our secret of today'), undefined);
const NEXT = new AuthSecrets(new Secret('our secret of tomorrow'), OURS.current);
const LATER = new AuthSecrets(new Secret('our secret of next week'), NEXT.current);

const claimOf = (proof: string, id = 'record') => ({
  id,
  proof: new Secret(proof),
  proofHash: createHash('sha256').update(proof).digest('hex'),
});
const CLAIM = claimOf('the proof of the client');
const SEALED = sealAnswer(ANSWER, CLAIM, OURS, IV);

describe('answers that hold a key', () => {
  it('sealed: opens with the proof and the service’s secret, and reveals nothing', () => {
    expect(openAnswer(SEALED, CLAIM, OURS)).toBe(ANSWER);
    expect(Buffer.from(SEALED.split('.').at(-1) ?? '', 'base64url').toString('latin1')).not.toContain('shown');
  });

  it('our secret is rotated: opens after the first rotation, not after the second', () => {
    expect(openAnswer(SEALED, CLAIM, NEXT)).toBe(ANSWER);
    expect(openAnswer(SEALED, CLAIM, LATER)).toBeUndefined();
  });

  it('another proof, record or secret: does not open', () => {
    expect(openAnswer(SEALED, claimOf('another proof'), OURS)).toBeUndefined();
    expect(openAnswer(SEALED, claimOf('the proof of the client', 'other'), OURS)).toBeUndefined();
    expect(openAnswer(SEALED, { ...CLAIM, proofHash: claimOf('x').proofHash }, OURS)).toBeUndefined();
    expect(openAnswer(SEALED, CLAIM, new AuthSecrets(new Secret('theirs'), undefined))).toBeUndefined();
  });

  it('a proof of more than 64 characters: its stored hash does not work in its place', () => {
    const long = claimOf('p'.repeat(200));
    const sealed = sealAnswer(ANSWER, long, OURS, IV);
    for (const stand of [long.proofHash, Buffer.from(long.proofHash, 'hex').toString('latin1')]) {
      expect(openAnswer(sealed, { ...long, proof: new Secret(stand) }, OURS)).toBeUndefined();
    }
    expect(openAnswer(sealed, long, OURS)).toBe(ANSWER);
  });

  it('a changed or foreign text: does not open', () => {
    expect(
      openAnswer(
        SEALED.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        CLAIM,
        OURS,
      ),
    ).toBeUndefined();
    expect(openAnswer('nonsense', CLAIM, OURS)).toBeUndefined();
  });
});
