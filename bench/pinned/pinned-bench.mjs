/**
 * The pinned mode: `npm run bench -- --pinned [--only=start,calls,…] [--seconds=N] [--against=<another build's dist>]`.
 *
 * The measured process has one core for itself, so that a ratio charges it for its own work and not for waking its
 * neighbours; provider, load, Postgres and Redis share the others.
 */

import { LoadGenerator } from '../load-generator.mjs';
import { startUpstream } from '../party.mjs';
import { startRedis } from '../redis.mjs';
import { leaveMeasuredCore } from './cores.mjs';
import { measureCalls } from './measure-calls.mjs';
import { measureChunks } from './measure-chunks.mjs';
import { measureGrowth } from './measure-growth.mjs';
import { measureLatency } from './measure-latency.mjs';
import { measureSoak } from './measure-soak.mjs';
import { measureStart } from './measure-start.mjs';
import { measureStoring } from './measure-storing.mjs';
import { startDatabases, startProvider } from './parties.mjs';

const SUITES = {
  start: measureStart,
  calls: measureCalls,
  latency: measureLatency,
  chunks: measureChunks,
  growth: measureGrowth,
  storing: measureStoring,
  soak: measureSoak,
};
export const PINNED_SUITES = Object.keys(SUITES);

/** @param {{ wants: Set<string>, seconds: number, dir: string, against?: string, verdicts: object }} options */
export async function measurePinned(options) {
  leaveMeasuredCore();
  const databases = await startDatabases(options.dir);
  const bench = {
    ...options,
    databases,
    upstream: await startUpstream(),
    provider: await startProvider(),
    load: await LoadGenerator.start(),
    redis: await startRedis(options.dir),
  };
  try {
    for (const [suite, measure] of Object.entries(SUITES)) if (options.wants.has(suite)) await measure(bench);
  } finally {
    await databases.stop();
  }
  return [{ name: 'this gateway' }];
}
