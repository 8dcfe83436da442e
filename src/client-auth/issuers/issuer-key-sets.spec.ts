import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type IssuerSimulator, startIssuer } from '../../../test/support/client-auth/issuers/issuer.js';
import { FakeClock } from '../../../test/support/clock.js';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { Log } from '../../common/log/log.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { IssuerKeySets } from './issuer-key-sets.js';

const MINUTE_MS = 60_000;
const closers: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});

async function startedIssuer(options?: { tls: boolean }): Promise<IssuerSimulator> {
  const issuer = await startIssuer(options);
  closers.push(() => issuer.stop());
  return issuer;
}

function setUp() {
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const outbound = new GuardedRequest({ trustedHosts: parseTrustedHosts('127.0.0.1') });
  closers.unshift(() => outbound.close());
  const keySets = new IssuerKeySets(outbound, clock, new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))));
  return { clock, lines, keySets };
}

const unavailable = (reason: string) => ({
  code: 'issuer_verification_unavailable',
  status: 503,
  reason,
  retryAfterSeconds: undefined,
});

describe('key set handling', () => {
  let issuer: IssuerSimulator;
  let known: string;
  const before = { fetches: 0 };
  const fetched = () => issuer.fetches() - before.fetches;

  beforeAll(async () => {
    issuer = await startedIssuer();
  });

  beforeEach(async () => {
    await issuer.revive();
    issuer.heal();
    known = issuer.kid('ES256');
    before.fetches = issuer.fetches();
  });

  it('request → GET with Accept: application/json', async () => {
    await setUp().keySets.find(issuer.jwksUrl, known);
    expect(issuer.accepts.at(-1)).toBe('application/json');
  });

  it('cache: 10 minutes per URL → one fetch until they expire, then another', async () => {
    const { keySets, clock } = setUp();
    expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    clock.advance(10 * MINUTE_MS - 1);
    expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    expect(fetched()).toBe(1);
    clock.advance(1);
    expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    expect(fetched()).toBe(2);
  });

  it('concurrent callers, known and unknown kids alike → one fetch in flight', async () => {
    const { keySets } = setUp();
    issuer.slow(50);
    const calls = Array.from({ length: 50 }, (_call, index) => keySets.find(issuer.jwksUrl, index % 2 ? known : 'x'));
    const found = await Promise.all(calls);
    expect(fetched()).toBe(1);
    expect(found.map((keys) => keys.length)).toEqual(found.map((_keys, index) => index % 2));
  });

  it('concurrent callers of a fetch that fails → one fetch, the same refusal for all', async () => {
    const { keySets } = setUp();
    issuer.slow(50);
    issuer.status(500);
    const refusals = await Promise.all([1, 2, 3].map(() => rejectionOf(keySets.find(issuer.jwksUrl, known))));
    expect(fetched()).toBe(1);
    for (const refusal of refusals) expect(refusal).toMatchObject(unavailable('jwks_unreachable'));
  });

  it.each<[string, string, () => unknown]>([
    ['status 503', 'jwks_unreachable', () => issuer.status(503)],
    ['a dead server', 'jwks_unreachable', () => issuer.die()],
    ['no JSON', 'jwks_invalid', () => issuer.garbage()],
  ])(
    '%s → not fetched again for two seconds, with the same refusal at once; then fetched once more',
    async (_name, reason, fail) => {
      const { keySets, clock, lines } = setUp();
      await fail();
      expect(await rejectionOf(keySets.find(issuer.jwksUrl, known))).toMatchObject(unavailable(reason));
      const failed = fetched();
      await issuer.revive();
      issuer.heal();
      clock.advance(1_999);
      const refusals = await Promise.all([1, 2, 3].map(() => rejectionOf(keySets.find(issuer.jwksUrl, known))));
      for (const refusal of refusals) expect(refusal).toMatchObject(unavailable(reason));
      expect([fetched(), lines.length]).toEqual([failed, 1]);
      clock.advance(1);
      expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
      expect(fetched()).toBe(failed + 1);
    },
  );

  it('a timeout → the two seconds begin at the failure, not at the request', async () => {
    const { keySets, clock } = setUp();
    issuer.slow(60_000);
    const silent = rejectionOf(keySets.find(issuer.jwksUrl, known));
    clock.advance(5_000);
    expect(await silent).toMatchObject(unavailable('jwks_unreachable'));
    expect(await rejectionOf(keySets.find(issuer.jwksUrl, known))).toMatchObject(unavailable('jwks_unreachable'));
    expect(fetched()).toBe(1);
  });

  it('one address fails → others are fetched as usual', async () => {
    const { keySets } = setUp();
    const other = await startedIssuer();
    issuer.status(500);
    await rejectionOf(keySets.find(issuer.jwksUrl, known));
    expect(await keySets.find(other.jwksUrl, other.kid('ES256'))).toHaveLength(1);
    expect(await keySets.find(`${issuer.jwksUrl}?tenant=2`, known).catch(() => 'asked')).toBe('asked');
    expect(fetched()).toBe(2);
  });

  it('a copy that is still valid → keeps serving, and an unknown kid is refused from it without a fetch', async () => {
    const { keySets, clock } = setUp();
    await keySets.find(issuer.jwksUrl, known);
    clock.advance(MINUTE_MS);
    issuer.status(500);
    for (let call = 0; call < 20; call++) {
      expect(await keySets.find(issuer.jwksUrl, 'nobody')).toEqual([]);
      expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    }
    expect(fetched()).toBe(2);
  });

  it('unknown kid: at most one refetch per 60 s, measured from the last successful fetch', async () => {
    const { keySets, clock } = setUp();
    await keySets.find(issuer.jwksUrl, known);
    await issuer.rotate({ keepOld: true });
    const fresh = issuer.kid('ES256');
    clock.advance(MINUTE_MS - 1);
    expect(await keySets.find(issuer.jwksUrl, fresh)).toEqual([]);
    expect(fetched()).toBe(1);
    clock.advance(1);
    expect(await keySets.find(issuer.jwksUrl, fresh)).toHaveLength(1);
    expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    expect(await keySets.find(issuer.jwksUrl, 'nobody')).toEqual([]);
    expect(fetched()).toBe(2);
  });

  it('unknown kid: in the very first call → no second fetch of the set that has just arrived', async () => {
    const { keySets } = setUp();
    expect(await keySets.find(issuer.jwksUrl, 'nobody')).toEqual([]);
    expect(fetched()).toBe(1);
  });

  it('refetch under way for an unknown kid → a known kid does not wait', async () => {
    const { keySets, clock } = setUp();
    await keySets.find(issuer.jwksUrl, known);
    clock.advance(MINUTE_MS);
    issuer.slow(300);
    let isRefetched = false;
    const unknown = keySets.find(issuer.jwksUrl, 'nobody').then(() => {
      isRefetched = true;
    });
    expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    expect(isRefetched).toBe(false);
    await unknown;
  });

  it('key withdrawn by the issuer → removed with the next fetched set', async () => {
    const { keySets, clock } = setUp();
    await keySets.find(issuer.jwksUrl, known);
    await issuer.rotate();
    clock.advance(10 * MINUTE_MS);
    expect(await keySets.find(issuer.jwksUrl, known)).toEqual([]);
    expect(await keySets.find(issuer.jwksUrl, issuer.kid('ES256'))).toHaveLength(1);
  });

  it.each<[string, string, () => unknown]>([
    ['status 500', 'jwks_unreachable', () => issuer.status(500)],
    ['status 404', 'jwks_unreachable', () => issuer.status(404)],
    ['a redirect, which is not followed', 'jwks_unreachable', () => issuer.redirect(issuer.jwksUrl)],
    ['a dead server', 'jwks_unreachable', () => issuer.die()],
    ['more than 512 KiB', 'jwks_unreachable', () => issuer.garbage(' '.repeat(512 * 1_024 + 1))],
    ['no JSON', 'jwks_invalid', () => issuer.garbage()],
    ['no keys array', 'jwks_invalid', () => issuer.publish({ keys: {} })],
  ])(
    'failed refetch, %s → %s; the last known keys serve until their 10 minutes are over',
    async (_name, reason, fail) => {
      const { keySets, clock, lines } = setUp();
      await keySets.find(issuer.jwksUrl, known);
      await fail();
      clock.advance(10 * MINUTE_MS - 2_000);
      expect(await keySets.find(issuer.jwksUrl, 'nobody')).toEqual([]);
      clock.advance(1_999);
      expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
      clock.advance(1);
      expect(await rejectionOf(keySets.find(issuer.jwksUrl, known))).toMatchObject(unavailable(reason));
      const failures = lines.filter(({ message }) => message === 'issuer_key_set_failed');
      expect(failures).toHaveLength(2);
      expect(failures[0]).toMatchObject({ level: 'warn', url: issuer.jwksUrl, reason });
      await issuer.revive();
      issuer.heal();
      clock.advance(2_000);
      expect(await keySets.find(issuer.jwksUrl, known)).toHaveLength(1);
    },
  );

  it('an access key in the query → not in the log', async () => {
    const { keySets, lines } = setUp();
    await issuer.die();
    await rejectionOf(keySets.find(`${issuer.jwksUrl}?apikey=secret-of-ours`, known));
    expect(lines).toEqual([expect.objectContaining({ message: 'issuer_key_set_failed', url: issuer.jwksUrl })]);
  });

  it('failed refetch → the next unknown kid refetches after two seconds: only a success starts the minute', async () => {
    const { keySets, clock } = setUp();
    await keySets.find(issuer.jwksUrl, known);
    clock.advance(MINUTE_MS);
    issuer.status(500);
    await keySets.find(issuer.jwksUrl, 'nobody');
    clock.advance(2_000);
    await keySets.find(issuer.jwksUrl, 'nobody');
    expect(fetched()).toBe(3);
  });

  it('unresponsive server → jwks_unreachable after 5 s, other issuers are not slowed', async () => {
    const { keySets } = setUp();
    const other = await startedIssuer();
    issuer.slow(60_000);
    const startedMs = performance.now();
    let waitedMs: number | undefined;
    const silent = rejectionOf(keySets.find(issuer.jwksUrl, known)).finally(() => {
      waitedMs = performance.now() - startedMs;
    });
    expect(await keySets.find(other.jwksUrl, other.kid('ES256'))).toHaveLength(1);
    expect(waitedMs).toBeUndefined();
    expect(await silent).toMatchObject(unavailable('jwks_unreachable'));
    expect(waitedMs).toBeGreaterThan(4_900);
  });

  it('more than 1,000 addresses → the least recently used one is dropped', async () => {
    const { keySets } = setUp();
    const addresses = Array.from({ length: 1_001 }, (_address, index) => `${issuer.jwksUrl}?tenant=${index}`);
    issuer.publish({ keys: [{ kid: 'k' }] });
    for (const address of addresses) await keySets.find(address, 'k');
    await keySets.find(addresses.at(-1) ?? '', 'k');
    expect(fetched()).toBe(1_001);
    await keySets.find(addresses[0] ?? '', 'k');
    expect(fetched()).toBe(1_002);
  });
});

describe('where key sets are fetched', () => {
  it('private address that the operator does not trust → jwks_unreachable, nothing arrives', async () => {
    const issuer = await startedIssuer();
    const clock = new FakeClock();
    const outbound = new GuardedRequest({ trustedHosts: parseTrustedHosts('') });
    closers.unshift(() => outbound.close());
    const keySets = new IssuerKeySets(outbound, clock, new Log(clock, 'debug', () => {}));
    expect(await rejectionOf(keySets.find(issuer.jwksUrl, 'k'))).toMatchObject(unavailable('jwks_unreachable'));
    expect(issuer.fetches()).toBe(0);
  });

  it('https with an untrusted certificate → jwks_unreachable', async () => {
    const issuer = await startedIssuer({ tls: true });
    expect(issuer.jwksUrl).toMatch(/^https:/);
    const { keySets, lines } = setUp();
    expect(await rejectionOf(keySets.find(issuer.jwksUrl, issuer.kid('ES256')))).toMatchObject(
      unavailable('jwks_unreachable'),
    );
    expect(String(lines[0]?.error)).toMatch(/^unreachable: .*CERT/);
  });
});
