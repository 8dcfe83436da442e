import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawServerConfig } from '../../test/support/apps/app-configs.js';
import { parseAppConfig } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { summarizeApp } from './app-list.rules.js';

const app = {
  id: 'notes-abc123',
  organizationId: 'account-1',
  name: 'Notes',
  config: {},
  authenticationType: 'api_key',
  revision: 1,
  status: 'active',
  createdAt: new Date(0),
  handle: null,
  updatedAt: new Date(0),
} as const;
const provider = (slug: string, status: KnownProvider['status']): KnownProvider => ({
  id: slug,
  slug,
  type: 'openai',
  status,
  apiStyles: [],
  endpointStyles: [],
});
const ACCOUNT = [provider('openai', 'active'), provider('backup', 'disabled')];
const NOTHING = { users: undefined, usage: undefined };
const stored = (raw: unknown) => ({ config: parseAppConfig(raw), configError: null });

describe('summarizeApp', () => {
  it('mobile application → what its configuration says', () => {
    expect(summarizeApp(app, stored(rawDeviceConfig()), ACCOUNT, NOTHING)).toMatchObject({
      authenticationType: 'device_app_attest',
      bundleId: 'com.example.app',
      providers: ['openai'],
      referencedProviders: ['openai', 'openai-backup'],
      allowedModelCount: 2,
      monthlyBudgetUsd: 250,
    });
  });

  it('mode all → every active provider, none named explicitly', () => {
    expect(summarizeApp(app, stored(rawServerConfig()), ACCOUNT, NOTHING)).toMatchObject({
      authenticationType: 'api_key',
      bundleId: null,
      providers: ['openai'],
      referencedProviders: [],
      monthlyBudgetUsd: null,
    });
  });

  it('configuration that no longer parses → invalid, reaches no provider', () => {
    const unreadable = { config: undefined, configError: 'config: must be an object' };
    expect(summarizeApp(app, unreadable, ACCOUNT, NOTHING)).toMatchObject({
      authenticationType: 'invalid',
      providers: [],
      allowedModelCount: 0,
    });
  });

  it('nothing recorded → zeros; recorded → unchanged', () => {
    const summary = summarizeApp(app, stored(rawServerConfig()), ACCOUNT, NOTHING);
    expect(summary.users).toEqual({ total: 0, blocked: 0 });
    expect(Object.values(summary.usage)).toEqual(Array(9).fill(0));
    const users = { total: 3, blocked: 1 };
    const usage = { ...summary.usage, requests: 7, cost_usd: 0.5 };
    expect(summarizeApp(app, stored(rawServerConfig()), ACCOUNT, { users, usage })).toMatchObject({ users, usage });
  });
});
