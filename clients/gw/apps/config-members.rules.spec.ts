import { describe, expect, it } from '@jest/globals';
import type { AppConfig } from '../configuration/configuration-files.js';
import { Failure } from '../program/failure.js';
import { withMembers } from './config-members.rules.js';

const config = {
  limits: { per_user: { requests: { per_minute: 10, per_day: null } } },
  allowed_origins: ['https://a.example'],
} as unknown as AppConfig;

describe('members of --set', () => {
  it.each([
    ['limits.per_user.requests.per_day=100', { requests: { per_minute: 10, per_day: 100 } }],
    ['limits.per_user.requests.per_minute=', { requests: { per_day: null } }],
    ['limits.per_user.requests.per_minute=null', { requests: { per_minute: null, per_day: null } }],
    ['limits.per_user.spending.monthly_usd=5', { ...config.limits?.per_user, spending: { monthly_usd: 5 } }],
  ])('%s → the other members stay', (typed, expected) => {
    const before = structuredClone(config);
    expect(withMembers(config, [typed])).toEqual({ ...config, limits: { per_user: expected } });
    expect(config).toEqual(before);
  });

  it.each([
    ['a=yes', 'yes'],
    ['a="5"', '5'],
    ['a=["x"]', ['x']],
    ['a=b=c', 'b=c'],
    ['a=true', true],
  ])('%s → parsed as JSON, else text', (typed, value) => {
    expect(withMembers(config, [typed])).toEqual({ ...config, a: value });
  });

  it('several → in their order', () => {
    expect(withMembers(config, ['a=1', 'b.c=2', 'a='])).toEqual({ ...config, b: { c: 2 } });
  });

  it('a name of an object’s prototype → a member like any other, left for the service to refuse', () => {
    const changed = withMembers(config, ['__proto__.polluted=1']);
    expect(Object.keys(changed)).toContain('__proto__');
    expect(Object(changed).polluted).toBeUndefined();
  });

  it.each(['limits', '=5', 'limits..x=1', 'allowed_origins.0=x', 'limits.per_user.requests.per_minute.x=1'])(
    '%s → refused',
    (typed) => {
      expect(() => withMembers(config, [typed])).toThrow(Failure);
    },
  );
});
