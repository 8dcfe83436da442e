/** One writer of events as a separate process: full batches on one connection, as fast as possible. */
import { randomBytes, randomInt } from 'node:crypto';
import { Secret } from '../../dist/src/common/log/secret.js';
import { createDataSource } from '../../dist/src/platform/database/data-source.js';
import { UsageWritesRepository } from '../../dist/src/usage/recording/event/usage-writes.repository.js';
import { takeJobs } from './jobs.mjs';

const BATCH_EVENTS = 2_000;
const BATCHES = 10;

/** The kinds of calls: the common values of their events. */
function kindsOf({ apps, models }) {
  return Array.from({ length: apps * models }, (_, kind) => ({
    kind,
    organization_id: 'event-writer',
    app_id: `event-writer-${Math.floor(kind / models)}`,
    api_key_id: 'key-1',
    provider_type: 'openai',
    provider_id: 'provider-1',
    provider_slug: 'openai',
    model_author: 'OpenAI',
    model: `model-${kind % models}`,
    route: 'openai/v1/responses',
    auth_method: 'attest',
  }));
}

function anEvent({ kind, model }, { users, versions }) {
  return {
    created_at_ms: Date.now(),
    user_id: `user-${randomInt(users)}`,
    credential_source: 'direct',
    app_version: `4.${randomInt(versions)}.0`,
    status: 'ok',
    cost_source: 'computed',
    input_tokens: 1_000,
    output_tokens: 300,
    cost_nano_usd: 4_000_000,
    latency_ms: 400,
    duration_ms: 1_900,
    served_model: `${model}-2026-01-01`,
    kind,
  };
}

/** Batches in turn; only the parts that must differ are created while the clock runs. */
function batchesOf(usage) {
  const kinds = kindsOf(usage);
  const kindsJson = JSON.stringify(kinds);
  const templates = Array.from({ length: BATCHES }, () =>
    Array.from({ length: BATCH_EVENTS }, () => JSON.stringify(anEvent(kinds[randomInt(kinds.length)], usage)).slice(1)),
  );
  return (round) => {
    const time = Date.now().toString(16).padStart(12, '0');
    const random = randomBytes(BATCH_EVENTS * 10).toString('hex');
    const rows = templates[round % BATCHES].map((members, at) => {
      const id = random.slice(at * 20, (at + 1) * 20);
      return `{"event_id":"${time}${id}","response_id":"resp_${id}",${members}`;
    });
    return { events: Buffer.from(`[${rows.join(',')}]`), kinds: kindsJson };
  };
}

/**
 * Writes for a time.
 *
 * @param {{ usage: { apps: number, users: number, models: number, versions: number } }} job how different the events are
 * @returns {Promise<{ stored: number, perSecond: number }>}
 */
async function write({ url, warmMs, durationMs, usage }) {
  const nextBatch = batchesOf(usage);
  const options = { applicationName: 'event-writer', poolSize: 1, entities: [], migrations: [] };
  const dataSource = await createDataSource({ url: new Secret(url), ...options }).initialize();
  const writes = new UsageWritesRepository(dataSource);
  const startedMs = performance.now();
  let stored = 0;
  for (let round = 0; performance.now() < startedMs + warmMs + durationMs; round += 1) {
    await writes.insert(nextBatch(round));
    stored += BATCH_EVENTS;
  }
  const seconds = (performance.now() - startedMs) / 1e3;
  await dataSource.destroy();
  return { stored, perSecond: stored / seconds };
}

takeJobs({ write });
