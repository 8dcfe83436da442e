import { describe, expect, it } from '@jest/globals';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { parseAppConfig } from './app-config.js';
import {
  allowedModelCount,
  authenticationType,
  bundleId,
  monthlyBudgetUsd,
  referencedProviders,
} from './app-summary.rules.js';

const device = parseAppConfig(rawDeviceConfig());
const server = parseAppConfig(rawServerConfig());

describe('application summary', () => {
  it('referenced providers: selections, targets and fallbacks → each once', () => {
    expect(referencedProviders(device)).toEqual(['openai', 'openai-backup']);
    expect(referencedProviders(server)).toEqual([]);
  });

  it('allowed models: the same model twice → counted once; mode all → none', () => {
    const selected = {
      openai: { allowed_paths: [], allowed_models: ['a', 'b', 'a'] },
      groq: { allowed_paths: [], allowed_models: ['b', 'c'] },
    };
    expect(allowedModelCount(parseAppConfig(rawSelection(selected)))).toBe(3);
    expect(allowedModelCount(server)).toBe(0);
  });

  it('monthly budget: the budget of the application, not of one user', () => {
    expect(monthlyBudgetUsd(device)).toBe(250);
    expect(monthlyBudgetUsd(server)).toBeNull();
  });

  it('authentication: type, and a bundle identifier for mobile applications only', () => {
    expect([authenticationType(device), bundleId(device)]).toEqual(['device_app_attest', 'com.example.app']);
    expect([authenticationType(server), bundleId(server)]).toEqual(['api_key', null]);
  });
});
