import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { PasswordHashing } from './password-hashing.service.js';

const PASSWORD = new Secret('correct horse battery staple');

/** The median duration of a call in milliseconds. */
async function medianMs(times: number, call: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < times; round++) {
    const begin = performance.now();
    await call();
    taken.push(performance.now() - begin);
  }
  return taken.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN;
}

describe('password hashing', () => {
  it('a password → Argon2id with 19 MiB, two passes, one lane; verified by itself alone', async () => {
    const hashing = new PasswordHashing();
    const stored = await hashing.hash(PASSWORD);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashing.verify(stored, PASSWORD)).toBe(true);
    for (const other of ['Correct horse battery staple', ' correct horse battery staple', '']) {
      expect(await hashing.verify(stored, new Secret(other))).toBe(false);
    }
  });

  it('one password twice → two hashes', async () => {
    const hashing = new PasswordHashing();
    expect(await hashing.hash(PASSWORD)).not.toBe(await hashing.hash(PASSWORD));
  });

  it('nothing stored → never right, after as much work as a wrong password', async () => {
    const hashing = new PasswordHashing();
    const stored = await hashing.hash(new Secret('another password'));
    expect(await hashing.verify(undefined, PASSWORD)).toBe(false);
    const ratios: number[] = [];
    for (let round = 0; round < 5; round++) {
      const unknown = await medianMs(15, () => hashing.verify(undefined, PASSWORD));
      const wrong = await medianMs(15, () => hashing.verify(stored, PASSWORD));
      ratios.push(unknown / wrong);
      if (Math.abs(unknown / wrong - 1) <= 0.2) return;
    }
    expect(ratios).toEqual('one within 20 percent of 1');
  });

  it('more than 52 at once → the rest is refused at once with Retry-After, and all others are served', async () => {
    const hashing = new PasswordHashing();
    const calls = Array.from({ length: 60 }, () => hashing.verify(undefined, PASSWORD));
    const ended = await Promise.allSettled(calls);
    const refusals = ended.filter((call) => call.status === 'rejected').map(({ reason }) => reason);
    expect(refusals).toHaveLength(8);
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(GatewayError);
      expect(refusal).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 2 });
    }
    expect(await hashing.verify(await hashing.hash(PASSWORD), PASSWORD)).toBe(true);
  });
});
