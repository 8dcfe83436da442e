import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IssuerKeySets } from '../../src/client-auth/issuers/issuer-key-sets.js';
import { Log } from '../../src/common/log/log.js';
import { GuardedRequest } from '../../src/platform/outbound/guarded-request.js';
import { parseTrustedHosts } from '../../src/platform/outbound/trusted-hosts.rules.js';
import { startIssuer } from '../support/client-auth/issuers/issuer.js';
import { FakeClock } from '../support/clock.js';
import { EndpointChain, refusingUrl } from '../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../support/proxy/proxy-client.js';
import { plainCompletion } from '../support/proxy/upstream.js';
import { event, hold, json, silence } from '../support/proxy/upstream-scripts.js';
import { rejectionOf } from '../support/rejection-of.js';
import { startWorld, type World } from '../support/world.js';

const TTFB_SECONDS = 1;
const HOLD_MS = 300;
const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] };

let world: World;

beforeAll(async () => {
  const { port, close } = await silentServer();
  ends.push(close);
  world = await startWorld({
    env: {
      PROVIDER_TTFB_TIMEOUT_SECONDS: String(TTFB_SECONDS),
      FALLBACK_HOLD_MS: String(HOLD_MS),
      VERCEL_AI_GATEWAY_BASE_URL: `http://127.0.0.1:${port}/vercel/`,
    },
  });
});

const ends: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  await world.stop();
  for (const end of ends) await end();
});

/** Accepts requests and never answers. */
async function silentServer(): Promise<{ port: number; close: () => Promise<unknown> }> {
  const server = createServer((socket) => {
    socket.resume();
    ends.unshift(async () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, close: async () => server.close() };
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, performance.now() - startedMs];
}

describe('an unresponsive provider', () => {
  it('to a call → 504 after PROVIDER_TTFB_TIMEOUT_SECONDS', async () => {
    const client = await ProxyClient.create(world);
    world.upstream.script(silence());
    const [{ status }, tookMs] = await timed(() => client.call('v1/chat/completions', { body: CHAT }));
    expect(status).toBe(504);
    expect([tookMs > TTFB_SECONDS * 950, tookMs < TTFB_SECONDS * 1900]).toEqual([true, true]);
  });

  it('to the test of a key → unreachable after four seconds', async () => {
    world.upstream.script(silence());
    const body = { type: 'openai', secret: 'sk-1234567890', baseUrl: `${world.upstream.url}/` };
    const [answer, tookMs] = await timed(() => world.api.post('/v1/admin/providers/test', body));
    expect(answer.body).toEqual({ validated: false, reason: 'unreachable' });
    expect([tookMs > 3_900, tookMs < 6_000]).toEqual([true, true]);
  });

  it('to the test of a gateway’s token → unreachable after four seconds', async () => {
    const body = { type: 'vercel', token: 'a-token-of-the-tests-7777' };
    const [answer, tookMs] = await timed(() => world.api.post('/v1/admin/provider-gateways/test', body));
    expect(answer.body).toEqual({ validated: false, reason: 'unreachable' });
    expect([tookMs > 3_900, tookMs < 6_000]).toEqual([true, true]);
  });
});

describe('FALLBACK_HOLD_MS', () => {
  it('a stream without content for that long → sent then', async () => {
    const created = event({ type: 'response.created', response: { id: 'resp_1' } });
    const held = hold(created);
    const chain = await EndpointChain.create(world, [{ script: held.script }, { script: json(200, {}) }]);
    const [, tookMs] = await timed(async () => {
      const message = await chain.open({ body: { input: 'Hi', stream: true } }).head;
      expect((await once(message, 'data'))[0].toString()).toBe(created);
    });
    expect([tookMs > HOLD_MS * 0.9, tookMs < HOLD_MS + 1_500]).toEqual([true, true]);
    held.release();
    await chain.stop();
  });
});

describe('an unresponsive issuer', () => {
  it('→ jwks_unreachable after five seconds, others are not slowed', async () => {
    const [silent, other] = [await startIssuer(), await startIssuer()];
    const outbound = new GuardedRequest({ trustedHosts: parseTrustedHosts('127.0.0.1') });
    ends.push(
      () => silent.stop(),
      () => other.stop(),
      () => outbound.close(),
    );
    const clock = new FakeClock();
    const keySets = new IssuerKeySets(outbound, clock, new Log(clock, 'error', () => undefined));
    silent.slow(60_000);
    const refused = timed(() => rejectionOf(keySets.find(silent.jwksUrl, silent.kid('ES256'))));
    const [keys, tookMs] = await timed(() => keySets.find(other.jwksUrl, other.kid('ES256')));
    expect([keys.length, tookMs < 1_000]).toEqual([1, true]);
    const [error, waitedMs] = await refused;
    expect(error).toMatchObject({ reason: 'jwks_unreachable' });
    expect([waitedMs > 4_900, waitedMs < 7_000]).toEqual([true, true]);
  });
});

describe('a collector that is down', () => {
  it('→ the process still stops in time', async () => {
    const other = await startWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: await refusingUrl() } });
    const client = await ProxyClient.create(other);
    other.upstream.script(json(200, plainCompletion));
    for (let call = 0; call < 5; call++) {
      expect((await client.call('v1/chat/completions', { body: CHAT })).status).toBe(200);
    }
    const [, tookMs] = await timed(() => other.stop());
    expect(tookMs).toBeLessThan(5_000);
  });
});
