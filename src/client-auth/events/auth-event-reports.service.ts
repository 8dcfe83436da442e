import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock } from '../../common/clock.js';
import { type DayFailures, UserUsage } from '../../usage/reports/user-usage.service.js';
import { UsersService } from '../../users/users.service.js';
import type { AuthEventFilter, AuthEventRow } from './auth-event.js';
import {
  type AuthEventDay,
  type ClaimDelay,
  daysUntil,
  inOrder,
  type TokenExchanges,
  toClaimDelay,
  toDaily,
  toTokenExchanges,
} from './auth-event-summary.rules.js';
import { AuthEventsRepository } from './auth-events.repository.js';

/** One page of an application's events. */
export interface AuthEventPage {
  readonly appId: string;
  readonly limit: number;
  /** Newest first. */
  readonly events: readonly AuthEventRow[];
}

/** Statistics of attempts over some days. Source: docs/reference/management-api.md#authentication-events. */
export interface AuthEventSummary {
  readonly app_id: string;
  readonly days: number;
  /** UTC days, `YYYY-MM-DD`, both included. */
  readonly from: string;
  readonly to: string;
  readonly daily: readonly AuthEventDay[];
  readonly usage_failures: readonly DayFailures[];
  readonly token_exchange: TokenExchanges;
  readonly claim_delay: ClaimDelay;
  readonly pending_users: number;
}

/** Read side of the recorded attempts. */
@Injectable()
export class AuthEventReports {
  constructor(
    private readonly events: AuthEventsRepository,
    private readonly usage: UserUsage,
    private readonly users: UsersService,
    private readonly clock: Clock,
  ) {}

  async pageOf(app: AppRef, filter: AuthEventFilter): Promise<AuthEventPage> {
    return { appId: app.id, limit: filter.limit, events: await this.events.list(app, filter) };
  }

  /** @param days 1 or more, today included. */
  async summaryOf(app: AppRef, days: number): Promise<AuthEventSummary> {
    const { from, to } = daysUntil(this.clock.now(), days);
    const [rows, failures, delay, pending] = await Promise.all([
      this.events.countByDay(app, from, to),
      this.usage.failuresByDay(app, from, to),
      this.events.measureClaimDelay(app, from, to),
      this.users.countClaimPending(app),
    ]);
    const daily = toDaily(rows);
    return {
      app_id: app.id,
      days,
      from,
      to,
      daily,
      usage_failures: inOrder(failures),
      token_exchange: toTokenExchanges(daily),
      claim_delay: toClaimDelay(delay),
      pending_users: pending,
    };
  }
}
