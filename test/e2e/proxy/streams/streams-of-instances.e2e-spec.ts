import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { InstanceRegistry } from '../../../../src/platform/instances/instance-registry.js';
import { StreamKeys } from '../../../../src/proxy/streams/stream-id.rules.js';
import { eventually } from '../../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { freePort, GatewayProcess } from '../../../support/platform/gateway-process.js';
import { describeBreakingRedis, startRedis, type TestRedis } from '../../../support/platform/redis.js';
import { read } from '../../../support/proxy/proxy-client.js';
import { StreamClient, streamOf, told } from '../../../support/proxy/stream-client.js';
import { event, hold, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, TEST_JWT_SECRET, type World } from '../../../support/world.js';

const PATH = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', stream: true, stream_options: { include_usage: true }, messages: [] };
const USAGE = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
const FIRST = event({ choices: [{ delta: { content: 'a very private word' } }] });
const PIECES = Array.from({ length: 300 }, (_, at) =>
  event({ choices: [{ delta: { content: `${at} ${'x'.repeat(at)}` } }] }),
);
const WITHIN = { withinMs: 30_000 };

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describeBreakingRedis('answers that another instance reads', () => {
  let redis: TestRedis;
  let world: World;
  let further: FurtherInstance;

  beforeAll(async () => {
    redis = await startRedis();
    const port = await freePort();
    const env = { REDIS_URL: redis.url, PORT: String(port), INTERNAL_URL: `http://127.0.0.1:${port}` };
    world = await startWorld({ env });
    further = await startFurtherInstance(world, undefined, { env: { PORT: '0', INTERNAL_URL: '' } });
  });

  afterAll(async () => {
    await further.stop();
    await world.stop();
    await redis.stop();
  });

  async function clients() {
    const here = await StreamClient.create(world);
    return { here, there: here.on(further) };
  }

  it('complete → the same bytes on the other instance from any offset; same state, length and errors', async () => {
    const { here, there } = await clients();
    world.upstream.script(sse([...PIECES, USAGE]));
    const answer = await here.calls.call(PATH, { body: BODY });
    const stream = streamOf(answer);
    await eventually(async () => (await there.read(stream)).headers['x-gateway-stream-state'] === 'complete', WITHIN);
    for (const offset of [0, 1, 77, 4_096, answer.body.length - 1, answer.body.length]) {
      const rest = await there.read(stream, offset);
      expect([rest.isComplete, sha256(rest.body)]).toEqual([true, sha256(answer.body.subarray(offset))]);
      expect(rest.headers['x-gateway-stream-length']).toBe(String(answer.body.length));
    }
    expect((await there.read(stream, answer.body.length + 1)).status).toBe(416);
    const other = (await StreamClient.create(world)).on(further);
    expect((await other.read(stream)).status).toBe(404);
  });

  it('live → several readers on the other instance, slow ones too, get it as it arrives; one event', async () => {
    const { here, there } = await clients();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const { request, head } = here.calls.open(PATH, { body: BODY });
    const message = await head;
    await once(message, 'data');
    request.destroy();
    const tails = await Promise.all([0, 0, 5].map((offset) => there.open(streamOf(message), offset)));
    expect(tails.map(({ headers }) => headers['x-gateway-stream-state'])).toEqual(['live', 'live', 'live']);
    await Promise.all(tails.map((tail) => once(tail, 'readable')));
    held.release(USAGE);
    const texts = (await Promise.all(tails.map(read))).map((tail) => told(tail));
    expect(texts.map(({ text, isComplete }) => [text, isComplete])).toEqual([
      [FIRST + USAGE, true],
      [FIRST + USAGE, true],
      [(FIRST + USAGE).slice(5), true],
    ]);
    expect(await here.calls.events()).toMatchObject([{ status: 'ok', output_tokens: 5 }]);
  });

  it('a repeated call on the other instance → the same call', async () => {
    const { here, there } = await clients();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const before = world.upstream.requests.length;
    const options = { body: BODY, headers: ['idempotency-key', randomUUID()] };
    const [one, other] = [here.calls.call(PATH, options), there.calls.call(PATH, options)];
    await eventually(() => held.open() === 1, WITHIN);
    held.release(USAGE);
    expect((await one).body.toString()).toBe(FIRST + USAGE);
    expect((await other).body.toString()).toBe(FIRST + USAGE);
    expect(world.upstream.requests.length - before).toBe(1);
    await here.calls.events();
  });

  it('stopped on the other instance → the provider is cancelled', async () => {
    const { here, there } = await clients();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const message = await here.calls.open(PATH, { body: BODY }).head;
    const first = read(message);
    expect((await there.stop(streamOf(message))).status).toBe(204);
    expect((await first).isComplete).toBe(false);
    await eventually(() => held.open() === 0, WITHIN);
    await eventually(
      async () => (await there.read(streamOf(message))).headers['x-gateway-stream-state'] === 'stopped',
      WITHIN,
    );
  });

  it('readers here and there → sixteen together; one leaves, one may come', async () => {
    const { here, there } = await clients();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const message = await here.calls.open(PATH, { body: BODY }).head;
    const first = read(message);
    const stream = streamOf(message);
    const readers = await Promise.all(Array.from({ length: 16 }, (_, at) => (at % 2 ? here : there).open(stream)));
    expect(readers.map(({ statusCode }) => statusCode)).toEqual(Array(16).fill(200));
    const statusOfNext = (client: StreamClient) => client.open(stream).then((one) => one.destroy().statusCode);
    for (const client of [here, there]) expect(await statusOfNext(client)).toBe(429);
    readers[0]?.destroy();
    await eventually(async () => (await statusOfNext(here)) === 200, WITHIN);
    held.release(USAGE);
    await Promise.all([first, ...readers.slice(1).map(read)]);
  });

  it('a dump of Redis → contains neither id nor caller nor text', async () => {
    const { here } = await clients();
    world.upstream.script(sse([FIRST, USAGE]));
    const stream = streamOf(await here.calls.call(PATH, { body: BODY }));
    const client = new Redis(redis.url);
    await eventually(async () => (await client.keys('gw:stream:*')).length > 0, WITHIN);
    const keys = await client.keys('gw:stream:*');
    const entries = (await Promise.all(keys.map((key) => client.xrangeBuffer(key, '-', '+')))).flat();
    const parts = entries.flatMap(([id, fields]) => [id, ...fields]).map((part) => part.toString('latin1'));
    const dump = [...keys, ...parts].join('\n');
    const secrets = [stream, stream.slice(3), here.calls.appId, here.calls.key, 'private', 'choices', 'event-stream'];
    for (const secret of secrets) expect(dump).not.toContain(secret);
    client.disconnect();
  });

  it('Redis restarts in the middle → the rest still arrives', async () => {
    const { here, there } = await clients();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const message = await here.calls.open(PATH, { body: BODY }).head;
    const whole = read(message);
    const stream = streamOf(message);
    await redis.kill();
    await redis.revive();
    const reads = async () => (await there.open(stream)).headers['x-gateway-stream-state'] === 'live';
    await eventually(reads, WITHIN);
    const tail = read(await there.open(stream));
    held.release(USAGE);
    expect((await whole).body.toString()).toBe(FIRST + USAGE);
    expect(told(await tail)).toMatchObject({ text: FIRST + USAGE, isComplete: true });
  });

  it('Redis is lost → the owner is asked at its internal address; one without an address is not, 503', async () => {
    const { here, there } = await clients();
    world.upstream.script(sse([...PIECES, USAGE]));
    const options = { body: BODY, headers: ['idempotency-key', randomUUID()] };
    const whole = await here.calls.call(PATH, options);
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const live = await here.calls.open(PATH, { body: BODY }).head;
    const first = read(live);
    world.upstream.script(sse([FIRST, USAGE]));
    const foreign = await there.calls.call(PATH, { body: BODY });
    await redis.kill();
    for (const offset of [0, 77, whole.body.length]) {
      const rest = await there.read(streamOf(whole), offset);
      expect(told(rest)).toMatchObject({ state: 'complete', length: whole.body.length, isComplete: true });
      expect(sha256(rest.body)).toBe(sha256(whole.body.subarray(offset)));
    }
    expect((await there.read(streamOf(whole), whole.body.length + 1)).status).toBe(416);
    expect(sha256((await there.calls.call(PATH, options)).body)).toBe(sha256(whole.body));
    const tails = await Promise.all([0, 5].map((offset) => there.open(streamOf(live), offset)));
    await Promise.all(tails.map((tail) => once(tail, 'readable')));
    held.release(USAGE);
    expect((await Promise.all(tails.map(read))).map((tail) => told(tail))).toMatchObject([
      { state: 'live', text: FIRST + USAGE, isComplete: true },
      { state: 'live', text: (FIRST + USAGE).slice(5), isComplete: true },
    ]);
    await first;
    const refused = await here.read(streamOf(foreign));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    await redis.revive();
  });

  it('the route between instances → signed, for this instance, stream and offset, for ten seconds', async () => {
    const here = world.gateway.app.get(InstanceRegistry).id;
    const there = further.gateway.app.get(InstanceRegistry).id;
    const keys = new StreamKeys(TEST_JWT_SECRET);
    const ask = async (baseUrl: string, path: string, signed = path, ageMs = 0, secret = keys) => {
      const sentAtMs = String(Date.now() - ageMs);
      const [instance = '', stream = '', from = ''] = signed.split('/');
      const signature = secret.mark('instance request', instance, stream, from, sentAtMs);
      const [id, mark, offset] = path.split('/');
      return (
        await fetch(`${baseUrl}/v1/instances/${id}/streams/${mark}?from=${offset}`, {
          headers: { authorization: `Instance ${sentAtMs}.${signature}` },
        })
      ).status;
    };
    expect(await ask(world.baseUrl, `${here}/m/0`)).toBe(204);
    expect(await ask(world.baseUrl, `${here}/m/0`, `${here}/m/1`)).toBe(401);
    expect(await ask(world.baseUrl, `${here}/m/0`, `${here}/n/0`)).toBe(401);
    expect(await ask(world.baseUrl, `${here}/m/0`, `${there}/m/0`)).toBe(401);
    expect(await ask(world.baseUrl, `${here}/m/0`, `${here}/m/0`, 11_000)).toBe(401);
    expect(await ask(world.baseUrl, `${here}/m/0`, `${here}/m/0`, -11_000)).toBe(401);
    const stranger = new StreamKeys('a secret of somebody else altogether');
    expect(await ask(world.baseUrl, `${here}/m/0`, `${here}/m/0`, 0, stranger)).toBe(401);
    expect(await ask(world.baseUrl, `${here}/m/-1`)).toBe(400);
    expect(await ask(world.baseUrl, `${there}/m/0`)).toBe(404);
    expect(await ask(further.baseUrl, `${there}/m/0`)).toBe(404);
    expect((await fetch(`${world.baseUrl}/v1/instances/${here}/streams/m?from=0`)).status).toBe(401);
  });

  it('the owner is killed → the published part, cut off, then lost; its event is unresolved; a repeated call is refused', async () => {
    const here = await StreamClient.create(world);
    const directory = mkdtempSync(join(tmpdir(), 'gateway-owner-'));
    const owner = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, {
      ...{ ...world.environment, DATA_DIR: directory, REDIS_URL: redis.url },
    });
    await owner.start();
    world.upstream.script(hold(FIRST).script);
    const headers = ['idempotency-key', randomUUID()];
    const message = await here.on(owner).calls.open(PATH, { body: BODY, headers }).head;
    message.on('error', () => {});
    await once(message, 'data');
    const stream = streamOf(message);
    await eventually(async () => (await here.open(stream)).statusCode === 200, WITHIN);
    const tail = read(await here.open(stream));
    await owner.kill();
    const cut = told(await tail);
    expect([cut.text, cut.isComplete]).toEqual([FIRST, false]);
    expect(told(await here.read(stream))).toMatchObject({ state: 'lost', text: FIRST, isComplete: false });
    expect((await here.calls.call(PATH, { body: BODY, headers })).status).toBe(409);
    await owner.start();
    expect(await here.calls.events()).toMatchObject([{ cost_source: 'unresolved' }]);
    await owner.stop();
    rmSync(directory, { recursive: true, force: true });
  });
});
