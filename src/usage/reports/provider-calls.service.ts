import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type DayRange, daysBefore } from '../../common/day-range.rules.js';
import { UsageSumsRepository } from '../recording/usage-sums.repository.js';

/** The days, including today, on which the health of a provider is based. */
const DAYS = 7;

/** Calls of all applications of an account to one provider instance. */
export interface ProviderCalls {
  /** Without those that the gateway refused. */
  readonly requests: number;
  /** Those with status `provider_error`. */
  readonly errors: number;
  /** UTC, `YYYY-MM-DD`; null without a success. */
  readonly lastSuccessDay: string | null;
}

export interface RecentProviderCalls {
  readonly days: DayRange;
  /** By slug; instances without calls are absent. */
  readonly bySlug: ReadonlyMap<string, ProviderCalls>;
}

/** Reads the recent results of the provider instances of an account. */
@Injectable()
export class RecentCallsOfProviders {
  constructor(
    private readonly sums: UsageSumsRepository,
    private readonly clock: Clock,
  ) {}

  async of(organizationId: string): Promise<RecentProviderCalls> {
    const to = this.clock.utcDay();
    const days = { from: daysBefore(to, DAYS - 1), to };
    const rows = await this.sums.sumByProvider(organizationId, days);
    const bySlug = new Map(
      rows.map(({ slug, requests, errors, last_ok_day: lastSuccessDay }) => [
        slug,
        { requests: Number(requests), errors: Number(errors), lastSuccessDay },
      ]),
    );
    return { days, bySlug };
  }
}
