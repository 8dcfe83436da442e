import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type ConfigChange, ConfigChanges } from '../../platform/database/config-changes.js';
import type { AuditActor } from '../access/admin-principal.js';
import { type AuditEntry, AuditTrail } from './audit-trail.js';

/** What the statements of a write return. */
export interface ConfigurationWrite<T> {
  readonly result: T;
  /** Recorded in the same transaction; absent when the statements changed nothing. */
  readonly entry?: AuditEntry;
  /** Published in the same transaction, so that every instance invalidates its snapshots. */
  readonly changes?: readonly ConfigChange[];
}

/** Runs statements in one transaction and commits them. */
export type Transaction<T> = (statements: (tx: EntityManager) => Promise<T>) => Promise<T>;

/** Writes of configuration: rows, audit entry and notification commit together or not at all. */
@Injectable()
export class ConfigurationWrites {
  constructor(
    private readonly dataSource: DataSource,
    private readonly trail: AuditTrail,
    private readonly configChanges: ConfigChanges,
  ) {}

  /**
   * Runs a write. After the commit, the snapshots of this instance are invalidated before it returns, so that the next
   * call here sees the change without waiting for the notification.
   *
   * @param transaction a transaction on the pool of requests when absent.
   */
  async run<T>(
    who: AuditActor,
    statements: (tx: EntityManager) => Promise<ConfigurationWrite<T>>,
    transaction: Transaction<T> = (all) => this.dataSource.transaction(all),
  ): Promise<T> {
    let committed: readonly ConfigChange[] = [];
    const result = await transaction(async (tx) => {
      const { result: written, entry, changes = [] } = await statements(tx);
      if (entry !== undefined) await this.trail.record(tx, who, entry);
      for (const change of changes) await this.configChanges.publish(tx, change);
      committed = changes;
      return written;
    });
    for (const change of committed) this.configChanges.applyHere(change);
    return result;
  }
}
