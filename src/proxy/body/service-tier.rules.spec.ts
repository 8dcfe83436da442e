import { describe, expect, it } from '@jest/globals';
import { compilePrice } from '../../pricing/model-price.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { pricedTier, readAskedTier } from './service-tier.rules.js';

const STANDARD = compilePrice({ input: 1, output: 10 });
const PRIORITY = compilePrice({ input: 1, output: 10, tiers: { priority: { input: 2, output: 20 } } });
const FLEX = compilePrice({ input: 1, output: 10, tiers: { flex: { input: 0.5 } } });

function tierAt(price: typeof STANDARD | undefined, body: object | string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return pricedTier(readAskedTier(scanJson(Buffer.from(text), REQUEST_NAMES)), price);
}

describe('the service tier of a request', () => {
  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ service_tier: null }, undefined],
    [{ service_tier: 'auto' }, undefined],
    [{ service_tier: 'flex' }, undefined],
    [{ service_tier: 'priority' }, 'priority_tier'],
    [{ serviceTier: 'priority' }, 'priority_tier'],
    [{ service_tier: 'SERVICE_TIER_PRIORITY' }, 'priority_tier'],
    [{ service_tier: 'priority', serviceTier: 'priority' }, 'priority_tier'],
    [{ serviceTier: 'auto', service_tier: null }, undefined],
  ])('%j, a price with rates for priority → %p', (body, part) => {
    expect(tierAt(PRIORITY, body)).toBe(part);
  });

  it('flex → its rates if there are any, else the standard ones', () => {
    expect([FLEX, STANDARD, undefined].map((price) => tierAt(price, { service_tier: 'flex' }))).toEqual([
      'flex_tier',
      undefined,
      undefined,
    ]);
  });

  it.each<[string, typeof STANDARD | undefined]>([
    ['no rates of tiers', STANDARD],
    ['rates of another tier', FLEX],
    ['a price that only the provider has', undefined],
  ])('priority, %s → 400 that names the member', (_name, price) => {
    expect(() => tierAt(price, { service_tier: 'priority' })).toThrow('service_tier: cannot be priced');
    expect(() => tierAt(price, { serviceTier: 'priority' })).toThrow('serviceTier: cannot be priced');
  });

  it.each<[object | string, string]>([
    [{ service_tier: 'fast' }, 'service_tier: cannot be priced'],
    [{ service_tier: 'priority ' }, 'service_tier: cannot be priced'],
    [{ service_tier: 'priority_tier' }, 'service_tier: cannot be priced'],
    [{ service_tier: '__proto__' }, 'service_tier: cannot be priced'],
    [{ service_tier: 1 }, 'service_tier: cannot be priced'],
    [{ service_tier: true }, 'service_tier: cannot be priced'],
    [{ service_tier: ['priority'] }, 'service_tier: '],
    [{ service_tier: { type: 'priority' } }, 'service_tier: '],
    [{ service_tier: 'batch' }, 'service_tier: cannot be priced'],
    [{ service_tier: 'priority', serviceTier: 'batch' }, 'serviceTier: must be the tier of service_tier'],
    [{ service_tier: 'priority', serviceTier: 'auto' }, 'serviceTier: must be the tier of service_tier'],
    [{ service_tier: 'auto', serviceTier: 'scale' }, 'serviceTier: cannot be priced'],
    ['{"service_tier":"auto","service_tier":"priority"}', 'service_tier'],
    ['{"service_tier":"auto","service\\u005ftier":"priority"}', 'service_tier'],
    ['{"Service_Tier":"priority"}', 'service_tier'],
  ])('%j → 400, saying %p', (body, message) => {
    expect(() => tierAt(PRIORITY, body)).toThrow(message);
  });
});
