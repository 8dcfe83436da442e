import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { BackgroundDataSource } from '../../platform/database/pools.js';
import { newEventId, Outbox } from '../../platform/outbox/outbox.js';
import { ProviderHealthRepository, type WatchedProvider } from './provider-health.repository.js';
import {
  type CallVerdict,
  type HealthChange,
  joined,
  judged,
  NO_CALLS,
  type ProviderHealthState,
  type ProviderReport,
  withCall,
} from './provider-health.rules.js';

/** How long good calls wait for their report. */
const REPORT_MS = 5_000;
/** How long errors wait. */
const REPORT_ERRORS_MS = 500;

/**
 * Reports to webhooks when a provider is failing and when it has recovered. Each instance counts its calls in memory
 * and reports them together; the state of all is in the database, and changes in the transaction that stores the event,
 * so that one event reports a change, however many instances see it. Counts of a killed process are lost.
 *
 * Source: docs/reference/webhooks.md#failing-providers.
 */
@Injectable()
export class ProviderHealth implements OnApplicationShutdown {
  private reports = new Map<string, ProviderReport>();
  private timer: NodeJS.Timeout | undefined;
  private dueMs = Number.POSITIVE_INFINITY;
  /** One report at a time: the next waits for its counts. */
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    private readonly background: BackgroundDataSource,
    private readonly repository: ProviderHealthRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /** Notes how a call ended. Never waits, never throws. */
  note(providerId: string, verdict: CallVerdict): void {
    this.reports.set(providerId, withCall(this.reports.get(providerId) ?? NO_CALLS, verdict));
    this.reportWithin(verdict === 'good' ? REPORT_MS : verdict === 'error' ? REPORT_ERRORS_MS : 0);
  }

  /** Reports all counts. Returns after a failed attempt too; the counts then wait for the next one. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.dueMs = Number.POSITIVE_INFINITY;
    this.reporting = this.reporting.then(() => this.report());
    return this.reporting;
  }

  onApplicationShutdown(): Promise<void> {
    return this.flush();
  }

  private reportWithin(ms: number): void {
    const dueMs = this.clock.monotonicMs() + ms;
    if (dueMs >= this.dueMs) return;
    clearTimeout(this.timer);
    this.dueMs = dueMs;
    this.timer = setTimeout(() => void this.flush(), ms).unref();
  }

  private async report(): Promise<void> {
    const reports = this.reports;
    if (reports.size === 0) return;
    this.reports = new Map();
    try {
      await this.background.transaction((tx) => this.judge(tx, reports));
    } catch (error) {
      this.keep(reports);
      this.log.event('provider_health_write_failed', { error: String(error) });
      this.reportWithin(REPORT_MS);
    }
  }

  private async judge(tx: EntityManager, reports: ReadonlyMap<string, ProviderReport>): Promise<void> {
    const states = new Map<string, ProviderHealthState>();
    const nowMs = this.clock.nowMs();
    for (const provider of await this.repository.lock(tx, [...reports.keys()])) {
      const { state, change } = judged(provider.state, reports.get(provider.id) ?? NO_CALLS, nowMs);
      states.set(provider.id, state);
      if (change !== undefined) await this.tell(tx, provider, change);
    }
    if (states.size > 0) await this.repository.store(tx, states);
  }

  private async tell(tx: EntityManager, provider: WatchedProvider, change: HealthChange): Promise<void> {
    const { id, organizationId, slug, name } = provider;
    const { type, reason, calls, errors } = change;
    await this.outbox.add(tx, {
      ...{
        id: newEventId(this.ids),
        organizationId,
        type,
        appId: null,
        subject: `provider:${id}`,
        at: this.clock.now(),
      },
      data: { account: organizationId, provider: { id, slug, name }, reason, calls, errors },
    });
  }

  /** Counts of a failed report, before those that were noted meanwhile. */
  private keep(reports: ReadonlyMap<string, ProviderReport>): void {
    for (const [id, report] of reports) this.reports.set(id, joined(report, this.reports.get(id) ?? NO_CALLS));
  }
}
