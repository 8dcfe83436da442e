import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { readResumed } from '../../../proof/streams/resumed-reads.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { freePort, GatewayProcess } from '../../../support/platform/gateway-process.js';
import { describeBreakingRedis, startRedis, type TestRedis } from '../../../support/platform/redis.js';
import { read } from '../../../support/proxy/proxy-client.js';
import { StreamClient, streamOf } from '../../../support/proxy/stream-client.js';
import { event, type Script, sse } from '../../../support/proxy/upstream-scripts.js';
import { seeded } from '../../../support/seeded.js';
import { startWorld, type World } from '../../../support/world.js';

/** `npm run prove -- streams` sets these. */
const CUTS = Number(process.env.STREAM_CUTS ?? 300);
const RUNS = Number(process.env.STREAM_RUNS ?? 6);
const SEED = Number(process.env.STREAM_SEED ?? 1);
const IS_LONG = process.env.STREAM_CUTS !== undefined;
const EVERY_BYTE_OF = IS_LONG ? 4_096 : 256;
const CHUNKS = IS_LONG ? 10_000 : 600;
/** Answers kept at once, and how often others take their place. */
const [KEPT, ROUNDS] = IS_LONG ? [2_000, 5] : [50, 2];
const AT_ONCE = 25;
const KEPT_BYTES = 30_000;
const STORE_BYTES = 67_108_864;
/** Places at which one answer is cut, by so many readers at a time. */
const [CUTS_OF_ANSWER, READERS] = [1_000, 8];
const LIMIT_MS = 60_000 + 200 * RUNS * 1_000 + CUTS * 20;

const PATH = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', stream: true, stream_options: { include_usage: true }, messages: [] };
const STREAMS = { resume_seconds: 600, max_bytes: 4_194_304 };

const chance = seeded(SEED);
const below = (most: number) => Math.floor(chance() * most);

function recordedChunks(): Buffer[] {
  const texts = Array.from({ length: CHUNKS }, (_, at) => ({
    choices: [{ delta: { content: `${at} é✓${'x'.repeat(below(24))}` } }],
  }));
  const usage = { choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 500 } };
  return [...texts, usage].map((data) => Buffer.from(event(data)));
}

const CHUNKS_SENT = recordedChunks();
const WHOLE = Buffer.concat(CHUNKS_SENT);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** 1 000 tokens in at 2, 500 out at 8 USD per million. */
const COST_USD = 0.006;

/** Sends the chunks; after the first half it waits for `go`. */
function paced(go: Promise<unknown>): Script {
  return async ({ body, response }) => {
    await body();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [at, chunk] of CHUNKS_SENT.entries()) {
      if (at === Math.floor(CHUNKS_SENT.length / 2)) await go;
      if (response.destroyed) return;
      response.write(chunk);
      if (at % 20 === 0) await sleep(1);
    }
    response.end();
  };
}

describeBreakingRedis(`resumed answers (seed ${SEED})`, () => {
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

  it(
    'cuts at every byte of the start, at every chunk boundary and at random places, on either instance → the remaining bytes',
    async () => {
      world.upstream.script(paced(Promise.resolve()));
      let edge = 0;
      const edges = CHUNKS_SENT.slice(0, IS_LONG ? undefined : 100).map(({ length }) => (edge += length));
      const places = [
        ...Array.from({ length: EVERY_BYTE_OF }, (_, at) => at),
        ...edges,
        ...Array.from({ length: CUTS }, () => below(WHOLE.length + 1)),
      ];
      for (let from = 0; from < places.length; from += CUTS_OF_ANSWER) {
        const here = await StreamClient.create(world, { streams: STREAMS });
        const instances = [here, here.on(further)];
        const before = world.upstream.requests.length;
        const answer = await here.calls.call(PATH, { body: BODY });
        expect(sha256(answer.body)).toBe(sha256(WHOLE));
        const cuts = places.slice(from, from + CUTS_OF_ANSWER).entries();
        const readOn = async () => {
          for (const [at, offset] of cuts) {
            const rest = await instances[at % 2]?.read(streamOf(answer), offset);
            if (!rest?.isComplete || !rest.body.equals(WHOLE.subarray(offset)))
              throw new Error(`offset ${offset} on instance ${at % 2}: ${rest?.status} ${rest?.body.length}`);
          }
        };
        await Promise.all(Array.from({ length: READERS }, readOn));
        expect(world.upstream.requests.length - before).toBe(1);
        const [recorded] = await here.calls.events();
        expect(recorded).toMatchObject({ status: 'ok', cost_usd: COST_USD });
      }
    },
    LIMIT_MS,
  );

  it(
    'connections lost while the answer arrives, owners killed in a third of the runs, Redis too → the same bytes, or lost',
    async () => {
      const outcomes = { complete: 0, lost: 0 };
      for (let run = 0; run < RUNS; run++) {
        const isKilled = run % 3 === 2;
        const isRedisLost = run % 6 >= 4;
        const here = await StreamClient.create(world, { streams: STREAMS });
        const directory = mkdtempSync(join(tmpdir(), 'gateway-owner-'));
        const INTERNAL_URL = `http://127.0.0.1:${await freePort()}`;
        const owner = isKilled
          ? new GatewayProcess(INTERNAL_URL, { ...world.environment, DATA_DIR: directory, INTERNAL_URL })
          : undefined;
        await owner?.start();
        const go = Promise.withResolvers<void>();
        world.upstream.script(paced(go.promise));
        const before = world.upstream.requests.length;
        const options = { body: BODY, headers: ['idempotency-key', randomUUID()] };
        const { request, head } = (owner === undefined ? here : here.on(owner)).calls.open(PATH, options);
        const message = await head;
        message.on('error', () => {});
        const stream = streamOf(message);
        if (run % 2 === 0) request.destroy();
        const first = run % 2 === 0 ? undefined : read(message);
        const instances = [here.on(further), here];
        const readers = [0, 0, 5].map((pauseMs) =>
          readResumed(stream, { instances, cuts: Array.from({ length: 6 }, () => below(WHOLE.length / 4)), pauseMs }),
        );
        await sleep(below(100));
        if (isRedisLost) await redis.kill();
        await sleep(below(100));
        if (isKilled) await owner?.kill();
        go.resolve();
        for (const { state, bytes, sha256: told } of await Promise.all(readers)) {
          expect(['complete', 'lost']).toContain(state);
          expect(told).toBe(sha256(state === 'complete' ? WHOLE : WHOLE.subarray(0, bytes)));
          outcomes[state === 'complete' ? 'complete' : 'lost']++;
        }
        await first;
        let again = await here.calls.call(PATH, options);
        // Until the lease of the owner has ended.
        for (; isKilled && again.status === 503; await sleep(100)) again = await here.calls.call(PATH, options);
        expect([again.status, isKilled]).toEqual(isKilled ? [409, true] : [200, false]);
        expect(world.upstream.requests.length - before).toBe(1);
        if (owner !== undefined) await owner.start();
        const [recorded] = await here.calls.events();
        if (isKilled) expect(recorded).toMatchObject({ cost_source: 'unresolved' });
        else expect(recorded).toMatchObject({ status: 'ok', cost_usd: COST_USD });
        await owner?.stop();
        if (isRedisLost) await redis.revive();
        rmSync(directory, { recursive: true, force: true });
      }
      expect(outcomes).toEqual({ complete: 3 * (RUNS - Math.floor(RUNS / 3)), lost: 3 * Math.floor(RUNS / 3) });
    },
    LIMIT_MS,
  );

  it(
    'many kept answers, again and again → all of them in bounded memory, which does not grow',
    async () => {
      const { streamBytes, streamsKept } = world.gateway.app.get(Metrics);
      const here = await StreamClient.create(world, { streams: STREAMS });
      world.upstream.script(sse([WHOLE.subarray(0, KEPT_BYTES)]));
      const before = process.memoryUsage().arrayBuffers;
      const residents: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (let made = 0; made < KEPT; made += AT_ONCE) {
          const calls = Array.from({ length: AT_ONCE }, () => here.calls.call(PATH, { body: BODY }));
          for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
        }
        residents.push(process.memoryUsage().rss);
        expect(streamsKept.read()).toBeGreaterThanOrEqual(KEPT);
        expect(streamBytes.read()).toBeLessThanOrEqual(STORE_BYTES);
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * STORE_BYTES);
      }
      expect(residents.at(-1)).toBeLessThan(1.15 * (residents[1] ?? 0));
    },
    LIMIT_MS,
  );
});
