import { expect } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/common/errors/gateway-error.js';
import { fuzzRuns } from '../../jest/fuzz-runs.js';

/** Inputs per parser; long runs configure more. */
export const FUZZ_RUNS = fuzzRuns(500);
const MAX_HELD_MS = 50;
const MOST_REPEATS = 20;

/** Maximum time of one property. */
export const FUZZ_TIMEOUT_MS = 30_000 + FUZZ_RUNS * 5;

export const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));

/** Proves a property of a parser for many inputs. */
export function always(inputs: fc.Arbitrary<Buffer>, holds: (bytes: Buffer) => void): void {
  fc.assert(fc.property(inputs, holds), { numRuns: FUZZ_RUNS });
}

/**
 * The result of a parser for hostile bytes: `undefined` when it throws the one allowed refusal. A parse above the time
 * bound is repeated and the fastest run counts, because JIT compilation, garbage collection and cold caches only add
 * time.
 */
export function checked<T>(parse: () => T): T | undefined {
  const { value, heldMs } = timed(parse);
  let quickestMs = heldMs;
  for (let again = 0; again < MOST_REPEATS && quickestMs >= MAX_HELD_MS; again++) {
    quickestMs = Math.min(quickestMs, timed(parse).heldMs);
  }
  // An expectation takes longer than most parses.
  if (quickestMs >= MAX_HELD_MS) expect(quickestMs).toBeLessThan(MAX_HELD_MS);
  return value;
}

/** Measures the CPU time of this thread, which excludes waiting on a busy machine. */
function timed<T>(parse: () => T): { value: T | undefined; heldMs: number } {
  const before = process.threadCpuUsage();
  const value = refusable(parse);
  const { user, system } = process.threadCpuUsage(before);
  return { value, heldMs: (user + system) / 1000 };
}

function refusable<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'attest_failed') throw error;
    return undefined;
  }
}
