import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../client-auth/callers/caller.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type GatewayRequest, SERVER_TIMING } from '../../common/http/gateway-request.js';
import { lruCache } from '../../common/lru-cache.js';
import { type GuardedAnswer, GuardedRequest, OutboundError } from '../../platform/outbound/guarded-request.js';
import { PriceBook } from '../../pricing/price-book.js';
import { ProviderDirectory } from '../../providers/provider-directory.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import { parseJson } from '../../upstreams/usage/json-fields.rules.js';
import { BlockedUsers, userBlocked } from '../../users/blocked-users.js';
import { requireAllowedUnproven } from '../admission/call-subjects.rules.js';
import type { AllowedProvider } from '../model-choice.rules.js';
import type { ProxyPath } from '../proxy-path.rules.js';
import { type ProxyPlan, ProxyPlans } from '../proxy-plans.js';
import { ProxyPolicy } from '../proxy-policy.js';
import { type ModelList, readModelList, type UsableModels, usableModels, usablePart } from './usable-models.rules.js';

const TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** Lists count against no limit: this bounds how often a provider is asked for one. */
const KEPT_MS = 60_000;
/** Pages and providers. */
const MOST_KEPT = 200;

/** One model that an application may use. */
export interface UsableModel {
  readonly id: string;
  readonly ownedBy: string;
  /** Slug of the provider instance. */
  readonly provider: string;
}

interface KeptList {
  readonly provider: ProviderInstance;
  readonly atMs: number;
  readonly list: Promise<ModelList>;
}

/**
 * What an application may use, as lists of models. They count against no limit and create no event. Source:
 * docs/reference/application-api.md#model-lists.
 */
@Injectable()
export class ModelLists {
  /** By provider and target. */
  readonly #kept = lruCache<KeptList>(MOST_KEPT);

  constructor(
    private readonly plans: ProxyPlans,
    private readonly policy: ProxyPolicy,
    private readonly providers: ProviderDirectory,
    private readonly prices: PriceBook,
    private readonly blockedUsers: BlockedUsers,
    private readonly outbound: GuardedRequest,
    private readonly clock: Clock,
  ) {}

  /** From the catalog and the application's own names, without a call. */
  async ofCatalog({ app }: Caller): Promise<readonly UsableModel[]> {
    const { all } = await this.providers.forOrganization(app.organizationId);
    return all.flatMap((provider) => {
      const access = app.accessTo(provider);
      if (access === undefined || provider.status !== 'active') return [];
      const usable = this.usableAt(app, { provider, access });
      const names = [
        ...this.prices.modelsOf(provider.type),
        ...provider.customPrices.keys(),
        ...access.allowedModels,
        ...usable.rewritten.keys(),
      ];
      const ids = [...new Set(names)].filter((name) => usable.has(name)).sort();
      return ids.map((id) => {
        const canonical = app.modelRewrites.get(id) ?? id;
        return { id, ownedBy: provider.dialect.modelAuthor(canonical) ?? provider.type, provider: provider.slug };
      });
    });
  }

  /**
   * Answers a request for a provider's list of models with those that the caller may use.
   *
   * @throws as `ProxyPlans.forCall`, `requireAllowedUnproven` and `ProxyPolicy.admitBare`; auth_required the user is
   *   blocked; provider_error the provider has not answered with a list of models.
   */
  async answer(caller: Caller, address: ProxyPath, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const plan = await this.plans.forCall(caller, address, request.method);
    requireAllowedUnproven(caller, null);
    const { path } = this.policy.admitBare(caller, plan, request.headers);
    const { app, userId } = caller;
    if (userId !== null && (await this.blockedUsers.isBlocked(app, userId))) throw userBlocked();
    const list = await this.listOf(plan, path);
    const part = usablePart(list, this.usableAt(app, plan), plan.provider);
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      ...(request.timings && { [SERVER_TIMING]: request.timings.header() }),
    });
    response.end(JSON.stringify(part));
  }

  private usableAt(app: Caller['app'], allowed: AllowedProvider): UsableModels {
    const { type, customPrices } = allowed.provider;
    return usableModels(app, allowed, (model) => this.prices.find(type, model, customPrices) !== undefined);
  }

  /** Shared by all callers for a minute; a failure is not cached. */
  private listOf(plan: ProxyPlan, path: string): Promise<ModelList> {
    const { provider } = plan;
    const key = `${provider.id} ${path}`;
    const kept = this.#kept.get(key);
    const nowMs = this.clock.monotonicMs();
    if (kept?.provider === provider && nowMs - kept.atMs < KEPT_MS) return kept.list;
    const list = this.fetch(plan, path);
    this.#kept.set(key, { provider, atMs: nowMs, list });
    list.catch(() => this.#kept.delete(key));
    return list;
  }

  private async fetch({ provider, credential }: ProxyPlan, path: string): Promise<ModelList> {
    const { route, baseUrl } = provider;
    const own = Object.fromEntries(pairsOf(credential));
    const headers = { accept: 'application/json', ...Object.fromEntries(route.probe?.headers ?? []), ...own };
    const answer = await this.outbound
      .get(baseUrl.origin + baseUrl.path + path, { headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_LIST_BYTES })
      .catch(unreachable);
    if (answer.status !== 200) throw noList(`The provider answered its list of models with status ${answer.status}.`);
    const list = readModelList(parseJson(answer.body.toString('utf8')));
    if (list === undefined) throw noList('The provider’s answer is not a list of models.');
    return list;
  }
}

function unreachable(error: unknown): GuardedAnswer {
  if (!(error instanceof OutboundError)) throw error;
  throw new GatewayError('provider_error', { reason: 'model_list_unreachable', cause: error });
}

function noList(message: string): GatewayError {
  return new GatewayError('provider_error', { message, reason: 'model_list_unreadable' });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}
