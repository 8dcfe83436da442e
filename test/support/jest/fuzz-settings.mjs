import fc from 'fast-check';

const { FUZZ_RUNS, FUZZ_SEED } = process.env;

fc.configureGlobal({
  ...(FUZZ_RUNS && { numRuns: Number(FUZZ_RUNS) }),
  ...(FUZZ_SEED && { seed: Number(FUZZ_SEED) }),
});
