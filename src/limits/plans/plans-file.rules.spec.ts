import { describe, expect, it } from '@jest/globals';
import { epochMsOf } from '../../common/clock.js';
import { parsePlans } from './plans-file.rules.js';

const FREE = { name: 'Free', limits: { max_requests_per_month: 1000 } };

function parse(file: unknown) {
  return parsePlans(Buffer.from(typeof file === 'string' ? file : JSON.stringify(file)));
}

const withPlan = (plan: object) => ({ plans: { free: { ...FREE, ...plan } } });
const withAccount = (account: unknown) => ({ plans: { free: FREE }, accounts: { 'account-1': account } });

describe('parsePlans', () => {
  it('all members present → read', () => {
    const book = parse({
      default_plan: 'free',
      plans: {
        free: FREE,
        pro: {
          name: ' Pro ',
          description: 'For teams',
          features: ['Support', 'SLA'],
          limits: { max_apps: 0, max_providers: 2, max_provider_gateways: 3, max_active_keys_per_app: 4 },
        },
      },
      accounts: {
        'account-1': { plan: 'pro', period_anchor_day: 15, status: 'past_due', ends_at: '2027-01-31T00:00:00Z' },
        'account-2': { plan: null },
      },
    });
    const pro = {
      key: 'pro',
      name: 'Pro',
      description: 'For teams',
      features: ['Support', 'SLA'],
      limits: { maxApps: 0, maxProviders: 2, maxProviderGateways: 3, maxActiveKeysPerApp: 4 },
    };
    const free = { key: 'free', name: 'Free', description: '', features: [], limits: { maxRequestsPerMonth: 1000 } };
    expect([...book.plans.values()]).toEqual([free, pro]);
    expect(book.forOthers).toEqual({
      plan: free,
      isDefault: true,
      status: 'active',
      periodAnchorDay: 1,
      endsAtMs: null,
    });
    expect([...book.accounts]).toEqual([
      [
        'account-1',
        {
          plan: pro,
          isDefault: false,
          status: 'past_due',
          periodAnchorDay: 15,
          endsAtMs: epochMsOf('2027-01-31T00:00:00Z'),
        },
      ],
      ['account-2', { plan: null, isDefault: false, status: 'active', periodAnchorDay: 1, endsAtMs: null }],
    ]);
  });

  it('no default plan, no accounts → no account has a plan', () => {
    expect(parse({ plans: {} })).toMatchObject({ forOthers: { plan: null }, accounts: new Map() });
    expect(parse({ plans: {}, default_plan: null }).forOthers.plan).toBeNull();
  });

  it('more than a thousand accounts → read', () => {
    const accounts = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`a${index}`, { plan: 'free' }]));
    expect(parse({ plans: { free: FREE }, accounts }).accounts.size).toBe(1_500);
  });

  it.each<[string, unknown, string]>([
    ['no JSON', '{"plans": ', 'file: is not valid JSON'],
    ['no object', [], 'file: must be an object'],
    ['an account twice', '{"plans":{},"accounts":{"a":{"plan":null},"a":{"plan":null}}}', 'a: is given twice'],
    ['an unknown member', { plans: {}, acounts: {} }, 'file.acounts: is not a known field'],
    ['no plans', {}, 'file.plans: is required'],
    ['an unknown default plan', { plans: {}, default_plan: 'free' }, 'file.default_plan: is not a plan of this file'],
    ['a plan key with capitals', { plans: { Free: FREE } }, 'file.plans.Free: must be lower-case letters'],
    ['a plan named as a prototype', '{"plans":{"__proto__":{}}}', 'file.plans.__proto__: is a reserved name'],
    ['no name', { plans: { free: { limits: {} } } }, 'file.plans.free.name: is required'],
    ['no limits', { plans: { free: { name: 'Free' } } }, 'file.plans.free.limits: is required'],
    ['an unknown member of a plan', withPlan({ price: 3 }), 'file.plans.free.price: is not a known field'],
    ['an unknown limit', withPlan({ limits: { max_users: 1 } }), 'file.plans.free.limits.max_users: is not a known'],
    ['a limit that is null', withPlan({ limits: { max_apps: null } }), 'file.plans.free.limits.max_apps: must be an'],
    ['a negative limit', withPlan({ limits: { max_apps: -1 } }), 'file.plans.free.limits.max_apps: must be at least 0'],
    ['a feature that is not text', withPlan({ features: [1] }), 'file.plans.free.features.0: must be text'],
    ['an account without a word', withAccount({}), 'file.accounts.account-1.plan: is required'],
    ['a plan nobody knows', withAccount({ plan: 'pro' }), 'file.accounts.account-1.plan: is not a plan of this file'],
    ['an inherited plan', withAccount({ plan: 'constructor' }), 'file.accounts.account-1.plan: is not a plan of this'],
    ['a day that some months lack', withAccount({ plan: 'free', period_anchor_day: 29 }), 'period_anchor_day: must be'],
    ['an unknown status', withAccount({ plan: 'free', status: 'late' }), 'file.accounts.account-1.status: must be'],
    ['an end without a time', withAccount({ plan: 'free', ends_at: '2027-01-31' }), 'ends_at: must be an instant'],
    ['an end that never comes', withAccount({ plan: 'free', ends_at: '2027-13-01T00:00:00Z' }), 'ends_at: must be an'],
    ['an unknown member of an account', withAccount({ plan: 'free', seats: 2 }), 'account-1.seats: is not a known'],
  ])('%s → refused, naming its place', (_what, file, message) => {
    expect(() => parse(file)).toThrow(message);
  });
});
