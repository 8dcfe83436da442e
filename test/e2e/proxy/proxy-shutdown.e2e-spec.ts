import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { eventually } from '../../support/eventually.js';
import { startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { EndpointChain } from '../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { event, hold, json, silence } from '../../support/proxy/upstream-scripts.js';
import { openRaw, type RawConnection } from '../../support/raw-client.js';
import { startWorld, type World } from '../../support/world.js';

const BODY = '{"model":"gpt-4.1","stream":true}';
const DELTA = event({ type: 'response.output_text.delta', delta: 'Hi' });
const USAGE = event({
  type: 'response.completed',
  response: { id: 'resp_1', usage: { input_tokens: 1000, output_tokens: 500 } },
});
const USAGE_USD = 0.006;
const UNHEARD = { status: 'ok', cost_source: 'unresolved', client_aborted: null };

/** A call that is open when the service stops. */
interface Interrupted {
  readonly client: ProxyClient;
  readonly connection: RawConnection;
}

describeWithRedis('calls that are open when the service stops', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let world: World;
  let chain: EndpointChain;
  const lines: Record<string, unknown>[] = [];
  const calls = new Map<string, Interrupted>();
  const reasonsOf = ({ client }: Interrupted) =>
    lines
      .filter(({ message, appId }) => message === 'usage_unresolved_cost' && appId === client.appId)
      .map(({ reason }) => reason);

  function openCall(baseUrl: string, client: ProxyClient, target: string, version = '1.1'): Interrupted {
    const head = `POST ${target} HTTP/${version}\r\nHost: a\r\nAuthorization: Bearer ${client.key}\r\n`;
    const type = `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    return { client, connection: openRaw(baseUrl, head + type + BODY) };
  }

  function callOf(name: string): Interrupted {
    const call = calls.get(name);
    if (call === undefined) throw new Error(`no call: ${name}`);
    return call;
  }

  beforeAll(async () => {
    redis = await reachRedis();
    world = await startWorld({ env: { REDIS_URL: redis.url } });
    const instance = await startFurtherInstance(world, undefined, {
      env: { DRAIN_TIMEOUT_SECONDS: '0' },
      log: (line) => lines.push(JSON.parse(line)),
    });
    const begin = async (name: string, version?: string) => {
      const client = await ProxyClient.create(world);
      const target = `/v1/apps/${client.appId}/proxy/${client.slug}/v1/responses`;
      const asked = world.upstream.requests.length;
      calls.set(name, openCall(instance.baseUrl, client, target, version));
      const sent = () => world.upstream.requests.length > asked;
      await eventually(sent, { withinMs: 20_000 }).catch((cause: unknown) => {
        throw new Error(`${name} was not sent: ${callOf(name).connection.text()}`, { cause });
      });
    };
    const showing = (name: string, text: string) =>
      eventually(() => callOf(name).connection.text().includes(text), { withinMs: 10_000 });

    world.upstream.script(hold(DELTA).script);
    await begin('stream');
    await begin('stream without chunks', '1.0');
    await begin('left');
    for (const name of ['stream', 'stream without chunks', 'left']) await showing(name, DELTA);
    world.upstream.script(hold(DELTA + USAGE).script);
    await begin('stream with usage');
    await showing('stream with usage', USAGE);
    world.upstream.script(silence());
    await begin('no head');
    chain = await EndpointChain.create(world, [
      { script: json(503, {}) },
      { script: silence() },
      { script: json(200, {}) },
    ]);
    const target = `/v1/apps/${chain.client.appId}/endpoints/answer`;
    calls.set('chain', openCall(instance.baseUrl, chain.client, target));
    await chain.isAsked(1);
    const { connection } = callOf('left');
    const { openRequests } = instance.gateway.app.get(Metrics);
    const open = openRequests.of().value;
    connection.socket.destroy();
    await eventually(() => openRequests.of().value < open, { withinMs: 10_000 });
    await instance.stop();
  });

  afterAll(async () => {
    for (const { connection } of calls.values()) connection.socket.destroy();
    await chain.stop();
    await world.stop();
    await redis.stop();
  });

  it('a stream → cut off without its last chunk; not recorded as aborted by the client, and not free', async () => {
    const call = callOf('stream');
    expect((await call.connection.answer).text.endsWith('0\r\n\r\n')).toBe(false);
    expect(await call.client.events()).toMatchObject([UNHEARD]);
    expect(reasonsOf(call)).toEqual(['gateway_interrupted']);
  });

  it('a stream that ends with its connection → reset, so that it does not look complete', async () => {
    const call = callOf('stream without chunks');
    expect((await call.connection.answer).end).toBe('reset');
    expect(await call.client.events()).toMatchObject([UNHEARD]);
  });

  it('a stream whose usage was seen → billed accordingly', async () => {
    const call = callOf('stream with usage');
    expect(await call.client.events()).toMatchObject([
      { status: 'ok', cost_source: 'computed', cost_usd: USAGE_USD, client_aborted: null },
    ]);
    expect(reasonsOf(call)).toEqual([]);
  });

  it('no answer yet → 503, and the provider’s answer is unknown', async () => {
    const call = callOf('no head');
    const { text } = await call.connection.answer;
    expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: \d+\r\n[\s\S]*"code":"service_unavailable"/i);
    expect(await call.client.events()).toMatchObject([UNHEARD]);
    expect(reasonsOf(call)).toEqual(['gateway_interrupted']);
  });

  it('a chain at its second target → no further one is called, and its attempts are recorded', async () => {
    const call = callOf('chain');
    expect((await call.connection.answer).text).toMatch(/^HTTP\/1\.1 503 /);
    expect(await chain.attempts()).toMatchObject([
      { provider_slug: chain.slugs[0], status: 503, error: null },
      { provider_slug: chain.slugs[1], status: null, error: 'gateway_interrupted' },
    ]);
    expect(await call.client.events()).toMatchObject([{ ...UNHEARD, provider_slug: chain.slugs[1] }]);
    expect(chain.asked).toEqual([1, 1, 0]);
  });

  it('a client that disconnected before → still recorded as aborted by the client', async () => {
    const call = callOf('left');
    expect(await call.client.events()).toMatchObject([{ status: 'ok', cost_source: 'unresolved', client_aborted: 1 }]);
    expect(reasonsOf(call)).toEqual(['client_aborted']);
  });

  it('none of these → recorded as a provider failure', () => {
    expect(lines.filter(({ message }) => message === 'provider_stream_failed')).toEqual([]);
  });
});
