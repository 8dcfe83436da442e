import { describe, expect, it } from '@jest/globals';
import { growthFlags, isIdle } from './heap-growth.rules.js';

const MIB = 1024 * 1024;

const flags = (youngMib: number, utilization: number) => growthFlags({ youngBytes: youngMib * MIB, utilization });

describe('growthFlags', () => {
  it.each([
    [1, 16],
    [1.75, 9],
    [4, 4],
    [8, 2],
    [14, 1],
    [16, 1],
    [28, 1],
    [Number.POSITIVE_INFINITY, 1],
  ])('young generation of %d MiB under load → grows %d times, to 16 MiB at most', (youngMib, factor) => {
    expect(flags(youngMib, 0.3)).toBe(`--semi-space-growth-factor=${factor} --heap-growing-percent=60`);
    expect(youngMib > 16 || youngMib * factor <= 16).toBe(true);
  });

  it('idle → the young generation stays as it is, and the limit of the old one is not lowered', () => {
    expect(flags(1, 0.01)).toBe('--semi-space-growth-factor=1 --heap-growing-percent=100');
  });

  it.each([
    [0.89, 60],
    [0.9, 100],
    [1, 100],
  ])('utilization %d → the old generation grows by %d %%', (utilization, percent) => {
    expect(flags(16, utilization)).toBe(`--semi-space-growth-factor=1 --heap-growing-percent=${percent}`);
  });
});

it.each([
  [0, true],
  [0.049, true],
  [0.05, false],
  [1, false],
])('utilization %d → idle: %s', (utilization, idle) => {
  expect(isIdle({ youngBytes: MIB, utilization })).toBe(idle);
});
