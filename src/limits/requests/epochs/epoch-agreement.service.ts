import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Clock, SystemClock } from '../../../common/clock.js';
import { Log } from '../../../common/log/log.js';
import { Environment } from '../../../platform/config/environment.js';
import { ConfigChanges, EVERYTHING } from '../../../platform/database/config-changes.js';
import { retryUnreachable } from '../../../platform/database/retry-unreachable.js';
import { InstanceRegistry } from '../../../platform/instances/instance-registry.js';
import { type EpochView, LimitEpochsRepository } from './limit-epochs.repository.js';

/** Topic of {@link ConfigChanges}: the stored epoch has changed. */
const TOPIC = 'request_limits';

/** Changes the stored epoch, and tells instances about it. Every promise may reject. */
@Injectable()
export class EpochAgreement {
  constructor(
    private readonly epochs: LimitEpochsRepository,
    private readonly dataSource: DataSource,
    private readonly configChanges: ConfigChanges,
    private readonly instances: InstanceRegistry,
    private readonly environment: Environment,
    private readonly log: Log,
  ) {}

  /** Calls `listener` when another instance may have changed the epoch. @returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    const ends = [this.configChanges.subscribe(TOPIC, listener), this.instances.onHeartbeat(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Changes the stored epoch in a transaction and notifies the other instances if `change` returns true. */
  change(change: (tx: EntityManager) => Promise<boolean>): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const changed = await change(tx);
      if (changed) await this.configChanges.publish(tx, { topic: TOPIC, key: EVERYTHING });
      return changed;
    });
  }

  /**
   * Begins an epoch for an instance that counts alone, without Redis. Part of the start, so it waits for Postgres.
   * Idempotent.
   * Source: docs/reference/security.md#dependency-failures.
   *
   * @param begin further work of the start that needs Postgres; must be idempotent.
   */
  async countAlone(begin: () => Promise<void>): Promise<void> {
    const both = () => this.epochs.beginAnew().then(begin);
    await retryUnreachable(both, {
      clock: new SystemClock(),
      waitMs: this.environment.DATABASE_WAIT_SECONDS * 1000,
      onWait: (_attempt, error) => this.log.event('database_waiting', { error }),
    });
  }
}

/** Logs changes of the counter backend, at most once per epoch. */
export class EpochLog {
  private epoch = 0;
  private degradedSinceMs: number | undefined;
  private hasFailed = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** Whether requests are counted without Redis. */
  get isDegraded(): boolean {
    return this.degradedSinceMs !== undefined;
  }

  /** Logs that this instance counts in an epoch, if that is a change. */
  countsIn({ epoch, countedIn, reason, members }: EpochView): void {
    if (epoch === this.epoch) return;
    // The instances that agreed on the epoch before this start have logged it.
    const isFound = this.epoch === 0;
    this.epoch = epoch;
    if (countedIn === 'instances') {
      this.degradedSinceMs ??= this.clock.monotonicMs();
      this.log.event('limits_degraded', { epoch, reason, instances: members.length });
    } else if (this.degradedSinceMs !== undefined) {
      const degradedMs = Math.round(this.clock.monotonicMs() - this.degradedSinceMs);
      this.degradedSinceMs = undefined;
      this.log.event('limits_restored', { epoch, degradedMs });
    } else if (!isFound && (reason === 'redis_forgot' || reason === 'instance_returned')) {
      this.log.event('limits_recounted', { epoch, reason });
    }
  }

  /** Logs a failed agreement, once per outage; it is retried. */
  failed(error: string): void {
    if (!this.hasFailed) this.log.event('limits_agreement_failed', { error });
    this.hasFailed = true;
  }

  /** The agreement succeeded, so the next failure is logged again. */
  worked(): void {
    this.hasFailed = false;
  }
}
