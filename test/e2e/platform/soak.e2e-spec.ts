import { expect, it } from '@jest/globals';
import { soak } from '../../proof/soak/soak.js';
import { describeBreakingRedis } from '../../support/platform/redis.js';

/** `npm run prove -- soak` sets them: an hour shows what these seconds cannot. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 0.15);
const SEED = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 30;
const SAMPLE_EVERY_MS = MINUTES < 5 ? 500 : 5_000;
/** Minimum length for a meaningful memory curve. */
const LONG_MINUTES = 20;
const MOST_GROWTH = 1.05;
const MOST_MORE_MIB = 8;
/** Connections of a pool come and go. */
const MOST_MORE_DESCRIPTORS = 20;
const ENDS_WITHIN_MS = 120_000;

describeBreakingRedis('an hour of everything at once, or a moment of it', () => {
  it(
    `${MINUTES} min of mixed traffic and faults (SOAK_SEED=${SEED}) → every call is recorded once, sums are consistent, memory stays flat`,
    async () => {
      const options = { seed: SEED, minutes: MINUTES, clients: CLIENTS, sampleEveryMs: SAMPLE_EVERY_MS };
      const report = await soak(options);
      process.stderr.write(`${JSON.stringify(report)}\n`);
      expect(report.violations).toEqual([]);
      expect(report.calls).toBeGreaterThan(MINUTES * 60);
      expect(report.unseen).toBeLessThanOrEqual(Math.ceil(report.calls / 1_000));
      if (MINUTES < LONG_MINUTES) return;
      for (const { earlierMib, laterMib, earlierDescriptors, laterDescriptors } of report.memory) {
        expect(laterMib).toBeLessThanOrEqual(earlierMib * MOST_GROWTH + MOST_MORE_MIB);
        expect(laterDescriptors).toBeLessThanOrEqual(earlierDescriptors + MOST_MORE_DESCRIPTORS);
      }
    },
    MINUTES * 60_000 + ENDS_WITHIN_MS,
  );
});
