/**
 * The number of random inputs of a property: `FUZZ_RUNS` for `npm run prove -- parsers`, otherwise as many as a quick
 * run allows. Properties without a number use `FUZZ_RUNS`.
 */
export function fuzzRuns(usual: number): number {
  return Number(process.env.FUZZ_RUNS ?? usual);
}
