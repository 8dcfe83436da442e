import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { UsageRepository } from '../usage/usage.repository.js';
import type { UsageEventFilter, UsageEventRow } from '../usage/usage-rows.js';
import { type MonthUsage, toMonthUsage } from './usage-totals.rules.js';

/** One application's usage of one month. */
export interface AppMonthUsage extends MonthUsage {
  readonly app_id: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** One page of an application's events. */
export interface UsageEventPage {
  readonly appId: string;
  readonly limit: number;
  /** Newest first. */
  readonly events: readonly UsageEventRow[];
}

interface OwnedApp {
  readonly id: string;
  readonly organizationId: string;
}

/** Reads monthly usage and events for the admin API. */
@Injectable()
export class UsageService {
  constructor(
    private readonly events: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /** @param month UTC, `YYYY-MM`; the current one when absent. */
  async monthOf(app: OwnedApp, month = this.clock.utcMonth()): Promise<AppMonthUsage> {
    const row = await this.events.sumMonth(app.organizationId, app.id, month);
    return { app_id: app.id, month, ...toMonthUsage(row) };
  }

  async pageOf(app: OwnedApp, filter: UsageEventFilter): Promise<UsageEventPage> {
    const events = await this.events.listEvents(app.organizationId, app.id, filter);
    return { appId: app.id, limit: filter.limit, events };
  }
}
