import { describe, expect, it } from '@jest/globals';
import type { Family, Tally } from './instruments.js';
import { Metrics } from './metrics.js';

const valuesOf = (family: Family<Tally>) =>
  Object.fromEntries([...family.members()].map(([labels, { value }]) => [labels.join(' '), value]));

describe('Metrics', () => {
  it('statuses → their classes; missing and invalid statuses → none', () => {
    const metrics = new Metrics();
    for (const status of [0, 101, 200, 204, 302, 404, 499, 500, 599, 600, 999]) metrics.requestEnded('x', status, '');
    expect(valuesOf(metrics.requests)).toEqual({
      'x none ': 3,
      'x 1xx ': 1,
      'x 2xx ': 2,
      'x 3xx ': 1,
      'x 4xx ': 2,
      'x 5xx ': 2,
    });
  });

  it('a provider’s answers and failures → counted separately; only answers have a duration', () => {
    const metrics = new Metrics();
    metrics.providerAnswered('openai', 200, 40);
    metrics.providerAnswered('openai', 429, 4_000);
    metrics.providerFailed('openai');
    expect(valuesOf(metrics.providerRequests)).toEqual({ 'openai 2xx': 1, 'openai 4xx': 1, 'openai none': 1 });
    const { counts, sum } = metrics.providerTtfb.of('openai');
    expect(sum).toBeCloseTo(4.04);
    expect(counts).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
  });

  it('settled calls → the four disjoint kinds of tokens, and cost by its source in whole nano-dollars', () => {
    const metrics = new Metrics();
    const tokens = { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 3, outputTokens: 5 };
    metrics.settled('openai', tokens, { source: 'computed', nanoUsd: 1 }, 0);
    const more = { ...tokens, cachedInputTokens: 2 };
    metrics.settled('openai', more, { source: 'computed', nanoUsd: 2_000_000_000_001 }, 0);
    metrics.settled('xai', undefined, { source: 'unresolved', nanoUsd: 0 }, 40);
    expect(valuesOf(metrics.tokens)).toEqual({
      'openai input': 20,
      'openai cached_input': 2,
      'openai cache_write': 6,
      'openai output': 10,
    });
    expect(valuesOf(metrics.cost)).toEqual({ 'openai computed': 2_000_000_000_002, 'xai unresolved': 0 });
    expect(valuesOf(metrics.estimatedCost)).toEqual({ xai: 40 });
  });

  it('log lines → by name; refusals also by code, fallbacks separately', () => {
    const metrics = new Metrics();
    metrics.logged('gateway_error', { code: 'forbidden', status: 403, path: '/', method: 'GET' });
    metrics.logged('endpoint_fallback', {
      eventId: 'e',
      endpoint: 'x',
      provider: 'a',
      next: 'b',
      reason: 'status_503',
    });
    metrics.logged('redis_back', { lostMs: 1 });
    expect(valuesOf(metrics.logEvents)).toEqual({ gateway_error: 1, endpoint_fallback: 1, redis_back: 1 });
    expect(valuesOf(metrics.refusals)).toEqual({ forbidden: 1 });
    expect(valuesOf(metrics.fallbacks)).toEqual({ '': 1 });
  });

  it('labels → none that could identify a tenant', () => {
    const labels = new Set(new Metrics().families.flatMap(({ about }) => about.labels));
    const closed = ['route', 'status_class', 'code', 'provider_type', 'kind', 'cost_source', 'outcome', 'event'];
    expect([...labels].sort()).toEqual(closed.sort());
  });
});
