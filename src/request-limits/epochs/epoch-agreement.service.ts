import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { ConfigChanges } from '../../platform/database/config-changes.js';
import { EVERYTHING } from '../../platform/database/config-changes.rules.js';
import { whenReachable } from '../../platform/database/when-reachable.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import type { CountedIn, EpochReason } from './epoch.rules.js';
import { type EpochView, type HandedCount, LimitEpochsRepository } from './limit-epochs.repository.js';

/** Topic of {@link ConfigChanges}: the stored epoch has changed. */
const TOPIC = 'request_limits';

/** Reads and changes the stored epoch, and notifies the other instances. Every method may fail. */
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
    const ends = [this.configChanges.subscribe(TOPIC, listener), this.instances.onBeat(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  view(): Promise<EpochView> {
    return this.epochs.read(this.instances.id);
  }

  /** Requests of minutes that begin between two times, milliseconds since the Unix epoch. */
  listMinutes(fromMs: number, toMs: number): Promise<HandedCount[]> {
    return this.epochs.listMinutes(fromMs, toMs);
  }

  /** @returns false when another instance began an epoch first. */
  begin(epoch: number, countedIn: CountedIn, reason: EpochReason): Promise<boolean> {
    return this.told((tx) => this.epochs.begin(tx, epoch, countedIn, reason));
  }

  /** @returns false when the epoch is open or over. */
  handOver(epoch: number, counts: readonly HandedCount[]): Promise<boolean> {
    return this.told((tx) => this.epochs.handOver(tx, this.instances.id, epoch, counts));
  }

  /** @returns false when the epoch is not open any more. */
  enter(epoch: number): Promise<boolean> {
    return this.told((tx) => this.epochs.enter(tx, this.instances.id, epoch));
  }

  /** @returns false when an instance has not handed over. */
  open(epoch: number): Promise<boolean> {
    return this.told((tx) => this.epochs.open(tx, epoch));
  }

  async leave(counts: readonly HandedCount[]): Promise<void> {
    await this.told(async (tx) => {
      await this.epochs.leave(tx, this.instances.id, counts);
      return true;
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
    await whenReachable(both, {
      clock: new SystemClock(),
      waitMs: this.environment.DATABASE_WAIT_SECONDS * 1000,
      onWait: (_attempt, error) => this.log.event('database_waiting', { error }),
    });
  }

  /**
   * Adds the counts of scopes that this instance evicts in an open epoch. Sends no notification.
   *
   * @returns false when the epoch is over.
   */
  tell(epoch: number, counts: readonly HandedCount[]): Promise<boolean> {
    return this.dataSource.transaction((tx) => this.epochs.tell(tx, epoch, counts));
  }

  async prune(nowMs: number): Promise<void> {
    await this.epochs.prune(nowMs);
  }

  private told(change: (tx: EntityManager) => Promise<boolean>): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const changed = await change(tx);
      if (changed) await this.configChanges.publish(tx, { topic: TOPIC, key: EVERYTHING });
      return changed;
    });
  }
}
