import { Injectable } from '@nestjs/common';
import type { NamedEndpoint } from '../../app-directory/config/app-config.js';
import type { Caller } from '../../client-auth/caller.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type Ready, whenReady } from '../../common/when-ready.js';
import { PriceBook } from '../../pricing/price-book.js';
import { ProviderDirectory } from '../../providers/provider-directory.js';
import type { ProviderSet } from '../../providers/provider-instance.js';
import type { CallTarget } from '../provider-choice.rules.js';
import { type EndpointTargets, type Target, targetsOf } from './endpoint-targets.rules.js';

const SLUG = /^[a-z0-9-]{1,64}$/;

/** A target with the credential for its call. */
export interface ReadyTarget extends CallTarget, Target {}

/** An endpoint and its usable targets. */
export interface EndpointPlan {
  readonly slug: string;
  readonly endpoint: NamedEndpoint;
  readonly primary: ReadyTarget;
  /** In call order. */
  readonly fallbacks: readonly ReadyTarget[];
  /** An instant of the day of the target prices, in milliseconds since the Unix epoch. */
  readonly pricedAtMs: number;
}

/** Targets with the prices of one day. */
interface KnownTargets extends EndpointTargets {
  readonly pricedAtMs: number;
}

const NO_TARGETS: readonly ReadyTarget[] = [];

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
  forCall({ app }: Caller, slug: string): Ready<EndpointPlan> {
    const endpoint = SLUG.test(slug) ? app.config.endpoints[slug] : undefined;
    if (endpoint === undefined) {
      throw new GatewayError('endpoint_not_found', { message: 'The application has no endpoint of this name.' });
    }
    return whenReady(this.providers.forOrganization(app.organizationId), (providers) => {
      const { primary, fallbacks, pricedAtMs } = this.targets(providers, endpoint);
      return whenReady(primary.provider.credentialHeaders(), (credential) =>
        whenReady(withCredentials(fallbacks), (usable) => {
          return { slug, endpoint, primary: { ...primary, credential }, fallbacks: usable, pricedAtMs };
        }),
      );
    });
  }

  /** The plan with the prices of the day of a request. @param atMs milliseconds since the Unix epoch. */
  pricedAt(plan: EndpointPlan, atMs: number): EndpointPlan {
    if (this.prices.hasSamePrices(atMs, plan.pricedAtMs)) return plan;
    const priced = <T extends Target>(target: T): T => {
      const { provider, model } = target;
      const price = this.prices.find(provider.type, model.canonical, provider.customPrices, atMs);
      return { ...target, model: { ...model, price } };
    };
    return { ...plan, primary: priced(plan.primary), fallbacks: plan.fallbacks.map(priced), pricedAtMs: atMs };
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
    if (targets === undefined || !this.prices.hasSamePrices(nowMs, targets.pricedAtMs)) {
      targets = { ...targetsOf(endpoint, providers, this.prices), pricedAtMs: nowMs };
      ofSet.set(endpoint, targets);
    }
    return targets;
  }
}

/** The targets with a usable key, in their order. Synchronous when all keys are decrypted. */
function withCredentials(targets: readonly Target[]): Ready<readonly ReadyTarget[]> {
  if (targets.length === 0) return NO_TARGETS;
  const opened = targets.map((target) => withCredential(target));
  const ready = opened.filter(isReady);
  if (ready.length === opened.length) return ready;
  return Promise.all(opened).then((all) => all.filter((target) => target !== undefined));
}

function withCredential(target: Target): Ready<ReadyTarget | undefined> {
  const credential = target.provider.credentialHeaders();
  if (!(credential instanceof Promise)) return { ...target, credential };
  return credential.then(
    (headers) => ({ ...target, credential: headers }),
    // Decryption logs the failure; an unusable fallback is dropped.
    () => undefined,
  );
}

function isReady(target: Ready<ReadyTarget | undefined>): target is ReadyTarget {
  return target !== undefined && !(target instanceof Promise);
}
