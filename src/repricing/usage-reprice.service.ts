import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../accounts/audit/audit-trail.js';
import type { AppRef } from '../app-directory/app.entity.js';
import { Budgets } from '../budgets/budgets.service.js';
import { Clock } from '../common/clock.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { PriceBook } from '../pricing/price-book.js';
import { CustomPrices } from '../providers/provider-listing.service.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { firstEventDay } from '../usage/recording/usage-range.rules.js';
import { type PricedEventRow, planReprice, type RepriceFigures, type RepricePlan, toFigures } from './reprice.rules.js';
import { type EventSelection, UsageRepriceRepository } from './usage-reprice.repository.js';

/** Maximum events per request. Source: docs/reference/accounting.md#repricing. */
const MAX_EVENTS = 10_000;

export interface RepriceOrder {
  readonly provider: ProviderType;
  readonly model: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  /** True writes the new costs; false only computes them. */
  readonly apply: boolean;
}

/** Result of repricing. Source: docs/reference/accounting.md#repricing. */
export interface UsageReprice extends RepriceFigures {
  readonly app_id: string;
  readonly provider: ProviderType;
  readonly model: string;
  readonly month: string;
  readonly applied: boolean;
}

type PriceOf = (providerId: string | null, atMs: number) => CompiledPrice | undefined;

/** Recomputes costs of recorded requests and updates all sums accordingly. */
@Injectable()
export class UsageRepriceService {
  constructor(
    private readonly events: UsageRepriceRepository,
    private readonly customPrices: CustomPrices,
    private readonly prices: PriceBook,
    private readonly budgets: Budgets,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Reprices the matching events. Events recorded meanwhile keep their cost. A concurrent reprice of the same events
   * waits for the first one.
   *
   * @throws invalid_request more than 10 000 events match (`month`), or `apply` is set and some events have no price
   *   (`apply`); nothing is written then.
   */
  async run(admin: AdminPrincipal, app: AppRef, order: RepriceOrder): Promise<UsageReprice> {
    const { provider, model, month, apply } = order;
    const priceOf = await this.pricesOf(app, order);
    const selection: EventSelection = {
      ...{ organizationId: app.organizationId, appId: app.id, provider, model, month },
      firstDay: firstEventDay(this.clock.utcDay()),
      limit: MAX_EVENTS + 1,
    };
    const plan = apply
      ? await this.apply(admin, selection, priceOf)
      : planned(await this.events.list(selection), priceOf);
    // Admission of the next call uses the new costs.
    if (apply && plan.changes.length > 0) await this.budgets.invalidateSpending(app.id);
    return { app_id: app.id, provider, model, month, applied: apply, ...toFigures(plan) };
  }

  private async pricesOf({ organizationId }: AppRef, { provider, model }: RepriceOrder): Promise<PriceOf> {
    const custom = await this.customPrices.pricesByProvider(organizationId);
    return (providerId, atMs) => this.prices.find(provider, model, custom.get(providerId ?? ''), atMs);
  }

  private apply(admin: AdminPrincipal, selection: EventSelection, priceOf: PriceOf): Promise<RepricePlan> {
    const plan = (events: readonly PricedEventRow[]) => complete(planned(events, priceOf));
    return this.events.rewrite(selection, plan, (tx, done) => this.trail.record(tx, admin, entryOf(selection, done)));
  }
}

function planned(events: readonly PricedEventRow[], priceOf: PriceOf): RepricePlan {
  if (events.length > MAX_EVENTS) throw invalidRequest('month', `more than ${MAX_EVENTS} events match`);
  return planReprice(events, priceOf);
}

function complete(plan: RepricePlan): RepricePlan {
  if (plan.unpricedEvents > 0) throw invalidRequest('apply', `${plan.unpricedEvents} events have no price`);
  return plan;
}

function entryOf({ appId, provider, model, month }: EventSelection, plan: RepricePlan): AuditEntry {
  const details = { provider, model, month, events: plan.changes.length, delta_usd: toFigures(plan).delta_usd };
  return { action: 'usage.repriced', targetType: 'app', targetId: appId, appId, details };
}
