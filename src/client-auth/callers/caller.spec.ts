import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { requireReadable, toAppSnapshot } from '../../app-directory/app-snapshot.js';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import { limitedCallOf } from './caller.js';

const row = { id: 'notes-abc123', organizationId: 'org-1', status: 'active' } as const;
const authentication = { type: 'api_key', end_user: { source: 'header', header: 'x-end-user-id' } };

function callOf(userId: string | null, limits: object) {
  const config = parseAppConfig({ ...rawServerConfig(), authentication, limits });
  return limitedCallOf({
    app: requireReadable(toAppSnapshot(row, { config, configError: null })),
    userId,
    unproven: null,
  });
}

describe('a call as request limits see it', () => {
  it.each([
    ['nothing is limited', {}],
    ['budgets alone', { per_user: { spending: { monthly_usd: 1 } }, per_app: { spending: { monthly_usd: 0 } } }],
  ])('%s → undefined', (_name, limits) => {
    expect(callOf('ann', limits)).toBeUndefined();
  });

  it('both scopes are limited → both limits, and the caller', () => {
    const limits = { per_user: { requests: { per_minute: 2 } }, per_app: { requests: { per_day: 9 } } };
    expect(callOf('ann', limits)).toEqual({
      organizationId: 'org-1',
      appId: 'notes-abc123',
      userId: 'ann',
      user: { perMinute: 2, perDay: null },
      app: { perMinute: null, perDay: 9 },
    });
  });

  it('a call without a user → no limits per user', () => {
    expect(callOf(null, { per_user: { requests: { per_minute: 2 } } })).toBeUndefined();
  });
});
