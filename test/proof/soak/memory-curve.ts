import { readdirSync, readFileSync } from 'node:fs';

const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;
const KIB = 1_024;
const MIB = KIB * KIB;
const MS_PER_HOUR = 3_600_000;
/** Caches fill and code is compiled: the first third of a run says nothing about a leak. */
const WARM_SHARE = 1 / 3;

/** One look at a process; Linux only. */
export interface MemorySample {
  readonly atMs: number;
  readonly residentBytes: number;
  readonly descriptors: number;
}

export interface MemoryCurve {
  readonly samples: number;
  readonly startMib: number;
  /** Medians of the first and of the second half after warm-up. */
  readonly earlierMib: number;
  readonly laterMib: number;
  readonly mostMib: number;
  /** Least squares after warm-up. */
  readonly slopeMibPerHour: number;
  readonly earlierDescriptors: number;
  readonly laterDescriptors: number;
}

export function sampleProcess(pid: number, atMs: number): MemorySample {
  const resident = RESIDENT.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (resident === undefined) throw new Error(`process ${pid} tells nothing of its memory`);
  return { atMs, residentBytes: Number(resident) * KIB, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** @param samples in their order, at least six. */
export function memoryCurve(samples: readonly MemorySample[]): MemoryCurve {
  const warm = samples.slice(Math.floor(samples.length * WARM_SHARE));
  const middle = Math.floor(warm.length / 2);
  const [earlier, later] = [warm.slice(0, middle), warm.slice(middle)];
  const mib = (from: readonly MemorySample[]) => median(from.map(({ residentBytes }) => residentBytes / MIB));
  const descriptors = (from: readonly MemorySample[]) => median(from.map((sample) => sample.descriptors));
  return {
    samples: samples.length,
    startMib: Math.round((samples[0]?.residentBytes ?? 0) / MIB),
    earlierMib: Math.round(mib(earlier)),
    laterMib: Math.round(mib(later)),
    mostMib: Math.round(Math.max(...samples.map(({ residentBytes }) => residentBytes)) / MIB),
    slopeMibPerHour: Math.round(slope(warm) * 10) / 10,
    earlierDescriptors: descriptors(earlier),
    laterDescriptors: descriptors(later),
  };
}

function slope(samples: readonly MemorySample[]): number {
  const hours = samples.map(({ atMs }) => atMs / MS_PER_HOUR);
  const mib = samples.map(({ residentBytes }) => residentBytes / MIB);
  const [meanHours, meanMib] = [mean(hours), mean(mib)];
  const covariance = hours.reduce((sum, hour, at) => sum + (hour - meanHours) * ((mib[at] ?? 0) - meanMib), 0);
  return covariance / hours.reduce((sum, hour) => sum + (hour - meanHours) ** 2, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
