import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock } from '../../common/clock.js';
import { type DayFailures, UserUsage } from '../../usage/reports/user-usage.service.js';
import { UsersService } from '../../users/users.service.js';
import type { AdmittedAttemptsRow, AuthEventFilter, AuthEventRow } from './auth-event.js';
import {
  type AuthEventDay,
  type ClaimDelay,
  daysUntil,
  inOrder,
  type ProofAttempts,
  type TokenExchanges,
  toClaimDelay,
  toDaily,
  toProofAttempts,
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
  /** Only where devices offered proofs. */
  readonly proofs: readonly ProofAttempts[];
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
    const [rows, failures, delay, pending, proofs] = await Promise.all([
      this.events.countByDay(app, from, to),
      this.usage.failuresByDay(app, from, to),
      this.events.measureClaimDelay(app, from, to),
      this.users.countClaimPending(app),
      this.events.countByProof(app, from, to),
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
      proofs: proofs.map(toProofAttempts),
    };
  }

  /** Admitted attempts of devices. @param days 1 or more, today included. */
  admittedAttempts(app: AppRef, days: number): Promise<AdmittedAttemptsRow[]> {
    const { from, to } = daysUntil(this.clock.now(), days);
    return this.events.admitted(app, from, to);
  }

  /** Different known users of admitted attempts with these marks. */
  async usersOf(app: AppRef, days: number, marks: readonly string[]): Promise<number> {
    const { from, to } = daysUntil(this.clock.now(), days);
    return marks.length === 0 ? 0 : await this.events.countUsers(app, from, to, marks);
  }
}
