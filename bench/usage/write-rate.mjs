/**
 * How many events one writer stores in a second, in full batches on one connection:
 * `npm run build && node bench/usage/write-rate.mjs --url=postgres://… [--seconds=15]`
 *
 * The database must be migrated and keeps the events.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Secret } from '../../dist/src/common/log/secret.js';
import { createDataSource } from '../../dist/src/platform/database/data-source.js';
import { UsageWritesRepository } from '../../dist/src/usage/event/usage-writes.repository.js';

const BATCH_EVENTS = 500;
const BATCHES = 40;
const APPS = 20;
const USERS = 20_000;
const MODELS = 12;
const VERSIONS = 6;

const { values } = parseArgs({ options: { url: { type: 'string' }, seconds: { type: 'string', default: '15' } } });
if (values.url === undefined) throw new Error('--url names the database to write to');

function anEvent(nowMs) {
  const model = randomInt(MODELS);
  return {
    created_at_ms: nowMs,
    organization_id: 'write-rate',
    app_id: `write-rate-${randomInt(APPS)}`,
    user_id: `user-${randomInt(USERS)}`,
    api_key_id: 'key-1',
    provider_type: 'openai',
    provider_id: 'provider-1',
    provider_slug: 'openai',
    credential_source: 'direct',
    model_author: 'OpenAI',
    model: `model-${model}`,
    route: 'openai/v1/responses',
    auth_method: 'attest',
    app_version: `4.${randomInt(VERSIONS)}.0`,
    status: 'ok',
    cost_source: 'computed',
    input_tokens: 1_000,
    output_tokens: 300,
    cost_nano_usd: 4_000_000,
    latency_ms: 400,
    served_model: `model-${model}-2026-01-01`,
  };
}

/** Only what must differ each time is made while the clock runs. */
const templates = Array.from({ length: BATCHES }, () =>
  Array.from({ length: BATCH_EVENTS }, () => JSON.stringify(anEvent(Date.now())).slice(1)),
);

function nextBatch(round) {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomBytes(BATCH_EVENTS * 10).toString('hex');
  const rows = templates[round % BATCHES].map((members, at) => {
    const id = random.slice(at * 20, (at + 1) * 20);
    return `{"event_id":"${time}${id}","response_id":"resp_${id}",${members}`;
  });
  return `[${rows.join(',')}]`;
}

const options = { applicationName: 'write-rate', poolSize: 1, entities: [], migrations: [] };
const dataSource = await createDataSource({ url: new Secret(values.url), ...options }).initialize();
const writes = new UsageWritesRepository(dataSource);
const startedMs = performance.now();
const endMs = startedMs + Number(values.seconds) * 1_000;
let stored = 0;
for (let round = 0; performance.now() < endMs; round++) {
  await writes.insert(nextBatch(round));
  stored += BATCH_EVENTS;
}
console.log(`${Math.round(stored / ((performance.now() - startedMs) / 1_000))} events/s, ${stored} in all`);
await dataSource.destroy();
