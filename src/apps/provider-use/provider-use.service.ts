import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../../app-directory/app-config-parser.js';
import type { DayRange } from '../../common/day-range.rules.js';
import type { ListedProvider } from '../../providers/provider-listing.service.js';
import { type ProviderCalls, RecentCallsOfProviders } from '../../usage/reports/provider-calls.service.js';
import { AccountProvidersService } from '../account-providers.js';
import { reachedProviders } from '../app-readiness.rules.js';
import { AppsRepository } from '../apps.repository.js';

/** Number of configurations that are read in one event loop turn, about 2 ms. */
const IN_ONE_TURN = 100;
const NO_CALLS: ProviderCalls = { requests: 0, errors: 0, lastSuccessDay: null };

interface NamedApp {
  readonly id: string;
  readonly name: string;
}

/** Who depends on a provider instance, and how its recent calls ended. */
export interface UsedProvider {
  readonly provider: ListedProvider;
  readonly calls: ProviderCalls;
  /** Every application that can reach it, disabled ones included, by name. */
  readonly apps: readonly NamedApp[];
}

export interface ProviderUse {
  readonly days: DayRange;
  readonly providers: readonly UsedProvider[];
}

/** Source: docs/reference/management-api.md#use-of-providers. */
@Injectable()
export class ProviderUseService {
  constructor(
    private readonly apps: AppsRepository,
    private readonly parser: AppConfigParser,
    private readonly providers: AccountProvidersService,
    private readonly calls: RecentCallsOfProviders,
  ) {}

  async of(organizationId: string): Promise<ProviderUse> {
    const [{ all }, apps, { days, bySlug }] = await Promise.all([
      this.providers.of(organizationId),
      this.apps.all(organizationId),
      this.calls.of(organizationId),
    ]);
    const users = new Map(all.map(({ id }) => [id, [] as NamedApp[]]));
    for (const [index, { id, name, config: stored }] of apps.entries()) {
      if (index % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
      const { config } = this.parser.read(stored);
      // Calls of one that no longer parses are refused, so it reaches nothing.
      for (const reached of config === undefined ? [] : reachedProviders(config, all)) {
        users.get(reached.id)?.push({ id, name });
      }
    }
    return {
      days,
      providers: all.map((provider) => ({
        provider,
        calls: bySlug.get(provider.slug) ?? NO_CALLS,
        apps: users.get(provider.id) ?? [],
      })),
    };
  }
}
