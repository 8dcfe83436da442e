import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { Log } from '../common/log/log.js';
import { lruCache } from '../common/lru-cache.js';
import { type ConfigChange, ConfigChanges } from '../platform/database/config-changes.js';
import { NotifiedCache } from '../platform/snapshots/snapshot-cache.js';
import { Vault } from '../platform/vault/vault.js';
import { directRoute } from '../upstreams/routes/provider-route.js';
import type { ProviderRow } from './provider.entity.js';
import { type CredentialTools, ProviderCredential } from './provider-credential.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { PROVIDER_GATEWAYS_TOPIC } from './provider-gateways/provider-gateway-listing.js';
import { ProviderInstance, ProviderSet } from './provider-instance.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersRepository } from './providers.repository.js';
import { OpenSecrets } from './secret-patterns.js';

const TOPIC = 'providers';
const MAX_ACCOUNTS = 10_000;
const NO_PROVIDERS = new ProviderSet([]);

/**
 * Read side of providers for calls: caches every instance of an account. An entry is reloaded on each change and after
 * 30 s, and is never older than 60 s.
 */
@Injectable()
export class ProviderDirectory {
  readonly #sets: NotifiedCache<ProviderSet>;
  /** Credentials by account, then by provider: an opened key outlives the snapshot. */
  readonly #credentials = lruCache<AccountCredentials>(MAX_ACCOUNTS);
  readonly #tools: Omit<CredentialTools, 'secrets'>;

  constructor(
    private readonly providers: ProvidersRepository,
    private readonly routes: ProviderRoutes,
    configChanges: ConfigChanges,
    vault: Vault,
    clock: Clock,
    private readonly log: Log,
  ) {
    this.#tools = { vault, clock, log };
    this.#sets = new NotifiedCache<ProviderSet>(configChanges, {
      topics: [TOPIC, PROVIDER_GATEWAYS_TOPIC],
      onChange: 'renew',
      load: (organizationId) => this.load(organizationId),
      clock,
      refreshAfterMs: 30_000,
      maxAgeMs: 60_000,
      missAgeMs: 10_000,
      max: MAX_ACCOUNTS,
    });
  }

  /**
   * The account's providers, synchronously on a cache hit. An account without any has an empty set.
   *
   * @throws (in the promise) a database error on a cache miss.
   */
  forOrganization(organizationId: string): ProviderSet | Promise<ProviderSet> {
    const known = this.#sets.get(organizationId);
    if (known instanceof Promise) return known.then((loaded) => loaded ?? NO_PROVIDERS);
    return known ?? NO_PROVIDERS;
  }

  private async load(organizationId: string): Promise<ProviderSet> {
    const rows = await this.providers.list(organizationId);
    const gateways = await this.routes.gatewaysOf(organizationId, rows);
    const before = this.#credentials.get(organizationId);
    const secrets = before?.secrets ?? new OpenSecrets();
    const tools = { ...this.#tools, secrets };
    const credentials = new Map<string, ProviderCredential>();
    const instances: ProviderInstance[] = [];
    for (const row of rows) {
      const read = this.read(row, gateways, tools, before?.byProvider.get(row.id));
      if (read === undefined) continue;
      credentials.set(row.id, read.credential);
      instances.push(read.instance);
    }
    this.#credentials.set(organizationId, { byProvider: credentials, secrets });
    return new ProviderSet(instances);
  }

  /** An unreadable row is logged and skipped, so that the account's other providers stay available. */
  private read(
    row: ProviderRow,
    gateways: ReadonlyMap<string, ProviderGatewayRow>,
    tools: CredentialTools,
    known: ProviderCredential | undefined,
  ): ReadProvider | undefined {
    try {
      const { gateway, route } = this.routes.route(row, gateways);
      // Without a route the instance has no credential, is never called, and calls are refused with the reason.
      const way = route ? { gateway, route } : { gateway: null, route: directRoute(row.type, null) };
      const credential = known?.isOf(row, way) ? known : new ProviderCredential(row, tools, way);
      return { instance: new ProviderInstance(row, way.route, credential, gateway), credential };
    } catch (error) {
      const text = errorText(error);
      this.log.event('provider_unreadable', { providerId: row.id, error: text });
      return undefined;
    }
  }
}

/** A change of an account's providers. */
export function providersChange(organizationId: string): ConfigChange {
  return { topic: TOPIC, key: organizationId };
}

/** The state of an account that outlives a snapshot. */
interface AccountCredentials {
  readonly byProvider: ReadonlyMap<string, ProviderCredential>;
  readonly secrets: OpenSecrets;
}

interface ReadProvider {
  readonly instance: ProviderInstance;
  readonly credential: ProviderCredential;
}
