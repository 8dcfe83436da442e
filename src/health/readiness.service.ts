import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SharedClock } from '../platform/clock/shared-clock.js';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { RedisConnection } from '../platform/redis/redis-connection.js';
import { Vault } from '../platform/vault/vault.js';
import type { ReadinessResponse } from './dto/health.response.js';
import { notReadyReason } from './readiness.rules.js';

const DATABASE_TIMEOUT_MS = 2_000;

/** Checks every dependency, each with a timeout. */
@Injectable()
export class ReadinessService {
  private isStopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly configChanges: ConfigChanges,
    private readonly vault: Vault,
    private readonly journal: UsageJournal,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly clock: SharedClock,
    private readonly metrics: Metrics,
  ) {}

  /** From now on this instance is not ready, although it serves: it stops soon. */
  announceStop(): void {
    this.isStopping = true;
  }

  async check(): Promise<ReadinessResponse> {
    const database = await this.databaseState();
    const journal = this.journal.state;
    const redis = this.instances.isInOtherRedis ? 'other' : this.redis.state;
    const vault = this.vault.state;
    const reason = notReadyReason({ isStopping: this.isStopping, database, vault, journal, redis });
    return {
      ready: reason === null,
      reason,
      database,
      vault,
      journal,
      configChanges: this.configChanges.connected ? 'connected' : 'polling',
      redis,
      instances: this.instances.live.length,
      clock: this.clock.differs ? 'differs' : 'ok',
      limits: this.metrics.limitsDegraded.read() === 1 ? 'degraded' : 'ok',
    };
  }

  private async databaseState(): Promise<ReadinessResponse['database']> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'unreachable'>((resolve) => {
      timer = setTimeout(() => resolve('unreachable'), DATABASE_TIMEOUT_MS);
    });
    const asked = this.dataSource.query('select 1').then(
      () => 'ok' as const,
      () => 'unreachable' as const,
    );
    const state = await Promise.race([asked, late]);
    clearTimeout(timer);
    return state;
  }
}
