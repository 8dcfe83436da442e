import { SystemClock } from '../../../src/common/clock.js';
import { SystemIds } from '../../../src/common/ids.js';
import { Log } from '../../../src/common/log/log.js';
import { createVault } from '../../../src/platform/vault/create-vault.js';
import type { ProviderRow } from '../../../src/providers/provider.entity.js';
import { ProviderCredential } from '../../../src/providers/provider-credential.js';
import { ProviderInstance } from '../../../src/providers/provider-instance.js';
import { OpenSecrets } from '../../../src/providers/secret-patterns.js';
import { directRoute, type ProviderRoute } from '../../../src/upstreams/routes/provider-route.js';

/** A stored provider instance; only what matters to a test is named by it. */
export function aProviderRow(overrides: Partial<ProviderRow> = {}): ProviderRow {
  const type = overrides.type ?? 'openai';
  return {
    id: `id-of-${overrides.slug ?? type}`,
    organizationId: 'account-1',
    type,
    slug: type,
    name: 'Main',
    secretBlob: null,
    secretHint: null,
    baseUrl: null,
    providerGatewayId: null,
    gatewayRoute: null,
    pricing: null,
    status: 'active',
    revision: 1,
    createdBy: 'identity-1',
    createdAt: new Date('2026-01-01T00:00:00.000Z'),
    updatedAt: new Date('2026-01-01T00:00:00.000Z'),
    testedAt: null,
    testResult: null,
    ...overrides,
  };
}

/** A provider instance as calls see it; only what matters to a test is named by it. Its key cannot be opened. */
export function aProvider(overrides: Partial<ProviderRow> = {}, route?: ProviderRoute): ProviderInstance {
  const row = aProviderRow(overrides);
  const clock = new SystemClock();
  const vault = createVault({ variable: 'SECRET_VAULT_MODE', problem: 'is required' }, new SystemIds());
  const log = new Log(clock, 'error', () => undefined);
  const credential = new ProviderCredential(row, { vault, clock, log, secrets: new OpenSecrets() });
  return new ProviderInstance(row, route ?? directRoute(row.type, row.baseUrl), credential, null);
}
