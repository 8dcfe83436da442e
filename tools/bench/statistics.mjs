/** Order statistics for the tables. */

/** The nearest-rank percentile of ascending `sorted`; `share` in 0..1. NaN when empty. */
export function percentile(sorted, share) {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length, Math.max(1, Math.ceil(sorted.length * share))) - 1];
}

/** Count, p50, p99 and maximum of samples in any order. */
export function summary(samples) {
  const sorted = Float64Array.from(samples).sort();
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1),
  };
}

/** The middle value; the mean of the two middle ones when there are two. NaN when empty. */
export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The median over rounds of the ratio of one figure of two parties, the first divided by the second. */
export function medianRatio(ones, others, figure) {
  return median(ones.map((one, round) => figure(one) / figure(others[round])));
}

/** The median over rounds of the difference between two parties. */
export function medianExcess(ones, others, figure) {
  return median(ones.map((one, round) => figure(one) - figure(others[round])));
}
