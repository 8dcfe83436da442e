import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { PasswordHashing } from './password-hashing.service.js';

const PASSWORD = new Secret('correct horse battery staple');

/** Microseconds of CPU of this process, whose only work the call is. */
async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

describe('password hashing', () => {
  it('a password → Argon2id with 19 MiB, two passes, one lane; verified only by that password', async () => {
    const hashing = new PasswordHashing();
    const stored = await hashing.hash(PASSWORD);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashing.verify(stored, PASSWORD)).toBe(true);
    for (const other of ['Correct horse battery staple', ' correct horse battery staple', '']) {
      expect(await hashing.verify(stored, new Secret(other))).toBe(false);
    }
  });

  it('the same password twice → two hashes', async () => {
    const hashing = new PasswordHashing();
    expect(await hashing.hash(PASSWORD)).not.toBe(await hashing.hash(PASSWORD));
  });

  it('no stored password → never matches, after as much work as a wrong password', async () => {
    const hashing = new PasswordHashing();
    const stored = await hashing.hash(new Secret('another password'));
    expect(await hashing.verify(undefined, PASSWORD)).toBe(false);
    const least = { unknown: Number.POSITIVE_INFINITY, wrong: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 20; round++) {
      least.unknown = Math.min(least.unknown, await cpuOf(() => hashing.verify(undefined, PASSWORD)));
      least.wrong = Math.min(least.wrong, await cpuOf(() => hashing.verify(stored, PASSWORD)));
    }
    expect(Math.abs(least.unknown / least.wrong - 1)).toBeLessThan(0.2);
  });

  it('more than 52 at once → the excess is refused at once with Retry-After, and all others are served', async () => {
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
