import { Injectable } from '@nestjs/common';
import type { NamedEndpoint } from '../../app-directory/config/endpoints-config.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { PriceBook } from '../../pricing/price-book.js';
import type { PriceCatalog } from '../../pricing/price-catalog.js';
import { ProviderDirectory } from '../../providers/provider-directory.js';
import type { ProviderSet } from '../../providers/provider-instance.js';
import type { CallPlan, CallTarget } from '../provider-choice.rules.js';
import { type EndpointTargets, type Target, targetsOf } from './endpoint-targets.rules.js';

const SLUG = /^[a-z0-9-]{1,64}$/;

/** A target with the credential for its call. */
export interface ReadyTarget extends CallTarget, Target {}

/** An endpoint and its usable targets. */
export interface EndpointPlan extends CallPlan {
  readonly endpointSlug: string;
  readonly endpoint: NamedEndpoint;
  readonly primary: ReadyTarget;
  /** In call order. */
  readonly fallbacks: readonly ReadyTarget[];
  /** An instant of the day of the target prices, in milliseconds since the Unix epoch. */
  readonly pricedAtMs: number;
  /** The catalog that the target prices are from. */
  readonly catalog: PriceCatalog;
}

/** Targets with the prices of one catalog. */
interface KnownTargets extends EndpointTargets, Pick<EndpointPlan, 'pricedAtMs' | 'catalog'> {}

/** Plans calls of named endpoints; the configuration of the endpoint is the policy. */
@Injectable()
export class EndpointPlans {
  /** Cache of targets per version of an account's providers and of an endpoint; only prices change within both. */
  readonly #known = new WeakMap<ProviderSet, WeakMap<NamedEndpoint, KnownTargets>>();

  constructor(
    private readonly providers: ProviderDirectory,
    private readonly prices: PriceBook,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws endpoint_not_found; for the primary target provider_not_configured, provider_disabled,
   *   provider_unavailable, pricing_not_configured.
   * Source: docs/reference/application-api.md#endpoint-targets.
   */
  async forCall({ app }: Caller, slug: string, method: string): Promise<EndpointPlan> {
    const endpoint = SLUG.test(slug) ? app.config.endpoints[slug] : undefined;
    if (endpoint === undefined) {
      throw new GatewayError('endpoint_not_found', { message: 'The application has no endpoint with this name.' });
    }
    const providers = await this.providers.forOrganization(app.organizationId);
    const { primary, fallbacks, ...priced } = this.targets(providers, endpoint);
    const credential = await primary.provider.credentialHeaders();
    const usable = (await Promise.all(fallbacks.map(withCredential))).filter((target) => target !== undefined);
    return {
      endpointSlug: slug,
      method,
      takesBody: true,
      endpoint,
      primary: { ...primary, credential },
      fallbacks: usable,
      ...priced,
    };
  }

  /** The plan with the prices of the day of a request. @param atMs milliseconds since the Unix epoch. */
  pricedAt(plan: EndpointPlan, atMs: number): EndpointPlan {
    const catalog = this.prices.list(atMs);
    if (catalog === plan.catalog) return plan;
    const priced = <T extends Target>(target: T): T => {
      const { provider, model } = target;
      const price = this.prices.find(provider.type, model.canonical, provider.customPrices, atMs);
      return { ...target, model: { ...model, price } };
    };
    return { ...plan, primary: priced(plan.primary), fallbacks: plan.fallbacks.map(priced), pricedAtMs: atMs, catalog };
  }

  /** Whether a planned target may still be called: its provider may have been paused or deleted since. */
  isStillActive({ app }: Caller, { provider }: ReadyTarget): boolean {
    const providers = this.providers.forOrganization(app.organizationId);
    if (providers instanceof Promise) {
      // The providers are being loaded: assume active without waiting. The next reader reports a failed load.
      providers.catch(() => {});
      return true;
    }
    const current = providers.find(provider.slug);
    return current !== undefined && current.id === provider.id && current.status === 'active';
  }

  private targets(providers: ProviderSet, endpoint: NamedEndpoint): KnownTargets {
    const nowMs = this.clock.nowMs();
    let ofSet = this.#known.get(providers);
    if (ofSet === undefined) {
      ofSet = new WeakMap();
      this.#known.set(providers, ofSet);
    }
    let targets = ofSet.get(endpoint);
    const catalog = this.prices.list(nowMs);
    if (targets?.catalog !== catalog) {
      targets = { ...targetsOf(endpoint, providers, this.prices), pricedAtMs: nowMs, catalog };
      ofSet.set(endpoint, targets);
    }
    return targets;
  }
}

/** Undefined when the key cannot be decrypted, which decryption logs: a fallback without a key is dropped. */
async function withCredential(target: Target): Promise<ReadyTarget | undefined> {
  try {
    return { ...target, credential: await target.provider.credentialHeaders() };
  } catch {
    return undefined;
  }
}
