import { randomInt } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { LoopbackStorm } from '../../../test/proof/responses/loopback-storm.js';
import { ResponseStorm } from '../../../test/proof/responses/response-storm.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { SystemClock } from '../../common/clock.js';
import { loadEnvironment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { OwnAddresses } from '../../platform/outbound/own-addresses.js';
import { UpstreamConnections } from '../connections/upstream-connections.js';

const RESPONSES = fuzzRuns(4_000);
/** Sockets of the system cost more. */
const OVER_SOCKETS = Math.min(Math.ceil(RESPONSES / 20), 20_000);
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

/** Shown if the proof is requested. */
function tell(report: object): void {
  if (process.env.FUZZ_RUNS !== undefined) process.stdout.write(`${JSON.stringify(report)}\n`);
}

it(`hostile answers to two accounts (seed ${SEED}) → refused, or read as Node reads them, each for its own request`, async () => {
  const report = await new ResponseStorm({ responses: RESPONSES, seed: SEED }).run();
  tell(report);
  const { calls, answered, refused, decoded, reused, idleBytes, failures } = report;
  expect(failures.join('\n\n')).toBe('');
  expect(calls).toBeGreaterThanOrEqual(RESPONSES);
  // The inputs of the rules.
  expect(answered).toBeGreaterThan(calls * 0.3);
  expect(refused).toBeGreaterThan(calls * 0.1);
  expect(reused).toBeGreaterThan(calls * 0.1);
  expect(decoded).toBeGreaterThan(calls * 0.004);
  expect(idleBytes).toBeGreaterThan(calls * 0.003);
});

it(`hostile answers over sockets to two accounts at one origin (seed ${SEED}) → none reaches another account`, async () => {
  const environment = loadEnvironment({ TRUSTED_PRIVATE_HOSTS: '127.0.0.1' });
  const connections = new UpstreamConnections(
    environment,
    new SystemClock(),
    new Metrics(),
    new OwnAddresses(undefined),
  );
  const report = await new LoopbackStorm(connections, { responses: OVER_SOCKETS, seed: SEED }).run();
  tell(report);
  const { calls, answered, reused, failures } = report;
  expect(failures.join('\n\n')).toBe('');
  expect(calls).toBeGreaterThanOrEqual(OVER_SOCKETS);
  expect(answered).toBeGreaterThan(calls * 0.3);
  expect(reused).toBeGreaterThan(calls * 0.1);
});
