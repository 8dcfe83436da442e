import { describe, expect, it } from '@jest/globals';
import { callsText, lossOf, successText } from './provider-use.rules';

const apps = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `app-${at}`, name: `App ${at}` }));

describe('lossOf', () => {
  it.each([
    [0, 0, 'No application can reach it.'],
    [1, 1, '1 application can reach it and will lose access: App 0.'],
    [2, 2, '2 applications can reach it and will lose access: App 0, App 1.'],
    [7, 2, '7 applications can reach it and will lose access: App 0, App 1 and others.'],
  ])('%d applications, %d named → %s', (appCount, named, text) => {
    expect(lossOf({ appCount, apps: apps(named) })).toBe(text);
  });
});

const calls = (requests: number, errors: number, lastSuccessDay: string | null) => ({
  requests,
  errors,
  lastSuccessDay,
});

it.each([
  [calls(0, 0, null), 'no calls', undefined],
  [calls(1, 0, '2026-01-31'), '1 call, none failed', 'last success today (UTC)'],
  [calls(1_000, 1, '2026-01-30'), '1,000 calls, <1% failed', 'last success 2026-01-30 (UTC)'],
  [calls(1_000, 999, '2026-01-30'), '1,000 calls, >99% failed', 'last success 2026-01-30 (UTC)'],
  [calls(4, 4, null), '4 calls, 100% failed', 'none succeeded'],
])('%j → %s, %s', (of, text, success) => {
  expect(callsText(of)).toBe(text);
  expect(successText(of, '2026-01-31')).toBe(success);
});
