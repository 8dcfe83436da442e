import { DataSource } from 'typeorm';
import { Budgets } from '../../../src/budgets/budgets.service.js';
import type { Clock } from '../../../src/common/clock.js';
import { SystemIds } from '../../../src/common/ids.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { InstanceRegistry } from '../../../src/platform/instances/instance-registry.js';
import { InstancesRepository, type LiveInstance } from '../../../src/platform/instances/instances.repository.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { RedisIdentity } from '../../../src/platform/redis/redis-identity.js';
import { sharedClockOf } from '../clock.js';
import { BudgetBook, FakeBudgetsRepository } from './fake-budgets-repository.js';

/** An instance whose view of itself and of the others is set by a test. */
export class FakeRegistry extends InstanceRegistry {
  others: readonly string[] = [];
  confirmed = true;
  entries = 1;
  private readonly beats = new Set<() => void>();

  constructor(
    private readonly ownId: string,
    clock: Clock,
    log: Log,
  ) {
    const redis = new RedisConnection({ url: undefined, clock, log });
    super({
      ...{ id: ownId, usesRedis: true, clock, sharedClock: sharedClockOf(clock), log, redis },
      instances: new InstancesRepository(new DataSource({ type: 'postgres' })),
      redisMark: new RedisIdentity(redis, new SystemIds()),
      listensAt: () => [],
    });
  }

  override get live(): readonly LiveInstance[] {
    const alike = {
      host: 'here',
      pid: 1,
      startedAtMs: 0,
      usesRedis: true,
      redisAnswers: true,
      redisMark: 'one',
      limitEpoch: 0,
      version: '',
      clockAheadMs: 0,
      listensAt: [],
      internalUrl: null,
    };
    return [this.ownId, ...this.others].map((id) => ({ id, ...alike }));
  }

  override get leaseAcquisitions(): number {
    return this.entries;
  }

  override get isAlone(): boolean {
    return this.others.length === 0;
  }

  override get isConfirmed(): boolean {
    return this.confirmed;
  }

  override onHeartbeat(listener: () => void): () => void {
    this.beats.add(listener);
    return () => this.beats.delete(listener);
  }

  override async heartbeat(): Promise<void> {
    if (this.confirmed) for (const listener of this.beats) listener();
  }
}

/** Notifications arrive, or do not. */
class FakeChanges extends ConfigChanges {
  arrive = true;

  constructor() {
    super({ url: new Secret('postgres://nobody@127.0.0.1:1/none'), onTrouble: () => undefined });
  }

  override get connected(): boolean {
    return this.arrive;
  }
}

type BudgetsClass<T extends Budgets> = new (...parts: ConstructorParameters<typeof Budgets>) => T;

/** Budgets of one instance alone, whose Postgres is a private {@link BudgetBook}. */
export function offlineBudgets<T extends Budgets>(made: BudgetsClass<T>, clock: Clock, log: Log, metrics: Metrics): T {
  const repository = new FakeBudgetsRepository(new BudgetBook());
  return new made(repository, new FakeRegistry('offline', clock, log), new FakeChanges(), clock, log, metrics);
}

/** One of several instances that share a book; nothing is logged. */
export function anInstance(id: string, book: BudgetBook, clock: Clock) {
  const log = new Log(clock, 'error', () => undefined);
  const metrics = new Metrics();
  const repository = new FakeBudgetsRepository(book);
  const registry = new FakeRegistry(id, clock, log);
  const changes = new FakeChanges();
  const budgets = new Budgets(repository, registry, changes, clock, log, metrics);
  book.recalls.push((key) => changes.applyHere({ topic: 'budget_grants', key }));
  return { id, budgets, repository, registry, changes, metrics };
}
