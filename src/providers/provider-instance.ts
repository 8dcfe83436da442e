import { toCustomPriceMap } from '../pricing/custom-pricing.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { dialectOf, type ProviderDialect } from '../upstreams/provider-dialect.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { GatewayType } from '../upstreams/routes/gateway-types.js';
import type { ProviderRoute } from '../upstreams/routes/provider-route.js';
import type { ProviderRow, ProviderStatus } from './provider.entity.js';
import type { ProviderCredential } from './provider-credential.js';
import type { OpenSecrets } from './secret-patterns.js';

/** The target of calls: `origin` of the connection, and `path` (slash at both ends) before the provider path. */
interface UpstreamBase {
  readonly origin: string;
  readonly path: string;
}

const NO_INSTANCES: readonly ProviderInstance[] = Object.freeze([]);

/** The upstream gateway of an instance, for usage records. */
interface RoutedThrough {
  readonly id: string;
  readonly type: GatewayType;
}

/** One provider instance for calls: built once from its row, immutable. */
export class ProviderInstance {
  readonly id: string;
  readonly slug: string;
  readonly type: ProviderType;
  readonly status: ProviderStatus;
  readonly dialect: ProviderDialect;
  readonly route: ProviderRoute;
  /** Null when it is called directly. */
  readonly gateway: RoutedThrough | null;
  readonly baseUrl: UpstreamBase;
  /** Whether the operator has chosen its address. */
  readonly isAtOwnAddress: boolean;
  /** Every address of it: its type's, its own, that of its route. */
  readonly addresses: readonly string[];
  /** For `PriceBook.find`; overrides the catalog per model. */
  readonly customPrices: ReadonlyMap<string, CompiledPrice>;
  readonly #credential: ProviderCredential;

  /** @throws Error for a row that this version cannot read: an unknown type, address or price. */
  constructor(row: ProviderRow, route: ProviderRoute, credential: ProviderCredential, gateway: RoutedThrough | null) {
    this.id = row.id;
    this.slug = row.slug;
    this.type = row.type;
    this.status = row.status;
    this.dialect = dialectOf(row.type);
    this.route = route;
    this.gateway = gateway && { id: gateway.id, type: gateway.type };
    const { origin, pathname } = new URL(route.baseUrl);
    this.baseUrl = Object.freeze({ origin, path: pathname });
    this.isAtOwnAddress = gateway === null && route.baseUrl !== this.dialect.baseUrl;
    const addresses = [route.baseUrl, this.dialect.baseUrl, row.baseUrl];
    this.addresses = Object.freeze(addresses.filter((address) => address !== null));
    this.customPrices = toCustomPriceMap(row.pricing);
    this.#credential = credential;
    Object.freeze(this);
  }

  /** The opened keys and tokens of its account in this process. */
  get accountSecrets(): OpenSecrets {
    return this.#credential.secrets;
  }

  /**
   * The headers of every call: alternating names and values, frozen; synchronous while the key is open.
   *
   * @throws (in the promise) provider_unavailable the stored key cannot be opened.
   */
  credentialHeaders(): readonly string[] | Promise<readonly string[]> {
    return this.#credential.headers();
  }
}

/** A snapshot of every readable provider instance of one account, including disabled ones. */
export class ProviderSet {
  /** Oldest first. */
  readonly all: readonly ProviderInstance[];
  readonly #bySlug: ReadonlyMap<string, ProviderInstance>;
  readonly #byType: ReadonlyMap<string, readonly ProviderInstance[]>;

  constructor(instances: readonly ProviderInstance[]) {
    this.all = Object.freeze([...instances]);
    this.#bySlug = new Map(instances.map((instance) => [instance.slug, instance]));
    this.#byType = Map.groupBy(instances, ({ type }) => type);
    Object.freeze(this);
  }

  /** The instance with exactly this slug; accepts any text. */
  find(slug: string): ProviderInstance | undefined {
    return this.#bySlug.get(slug);
  }

  /** The instances of a type, oldest first; empty for any other text. */
  ofType(type: string): readonly ProviderInstance[] {
    return this.#byType.get(type) ?? NO_INSTANCES;
  }
}
