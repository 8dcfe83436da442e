/**
 * How many inputs by chance a property is tried with: what `FUZZ_RUNS` says, for `npm run prove -- parsers`, else as
 * many as a quick run can afford. Properties that name no number follow `FUZZ_RUNS` by themselves.
 */
export function fuzzRuns(usual: number): number {
  return Number(process.env.FUZZ_RUNS ?? usual);
}
