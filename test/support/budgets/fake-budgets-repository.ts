import { DataSource } from 'typeorm';
import type {
  BudgetFirstTake,
  BudgetKey,
  BudgetReturn,
  BudgetTake,
  BudgetTaken,
  DroppedGrants,
  LapsedInstance,
} from '../../../src/budgets/budget-grants.js';
import { BudgetsRepository } from '../../../src/budgets/budgets.repository.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';

/** The two tables in memory, shared by any number of instances. Amounts are whole nano-dollars. */
export class BudgetBook {
  readonly spent = new Map<string, number>();
  /** Granted amounts, by budget and then by instance. */
  readonly grants = new Map<string, Map<string, number>>();
  readonly recalls: ((key: string) => void)[] = [];

  spend(key: BudgetKey, nanoUsd: number): void {
    const name = nameOf(key);
    this.spent.set(name, (this.spent.get(name) ?? 0) + nanoUsd);
  }

  spentOf(key: BudgetKey): number {
    return this.spent.get(nameOf(key)) ?? 0;
  }

  grantedOf(key: BudgetKey): number {
    return [...this.of(key).values()].reduce((sum, one) => sum + one, 0);
  }

  of(key: BudgetKey): Map<string, number> {
    const name = nameOf(key);
    const grants = this.grants.get(name) ?? new Map<string, number>();
    this.grants.set(name, grants);
    return grants;
  }
}

/**
 * What {@link BudgetsRepository} does, in memory; `test/e2e/budgets/budget-statements.e2e-spec.ts` proves that both do
 * the same.
 */
export class FakeBudgetsRepository extends BudgetsRepository {
  /** Called before and after each statement; may wait, and may throw. */
  gate: (when: 'before' | 'after') => Promise<void> = async () => undefined;
  /** Whether another statement holds the budget of a first take at that moment. */
  isLocked: () => boolean = () => false;
  statements = 0;

  constructor(private readonly book: BudgetBook) {
    super(
      new DataSource({ type: 'postgres' }),
      new ConfigChanges({ url: new Secret('postgres://nobody@127.0.0.1:1/none'), onTrouble: () => undefined }),
    );
  }

  override addRows(key: BudgetKey, instanceId: string): Promise<void> {
    return this.run(() => {
      const grants = this.book.of(key);
      if (!grants.has(instanceId)) grants.set(instanceId, 0);
    });
  }

  override take(instanceId: string, take: BudgetTake): Promise<BudgetTaken | undefined> {
    return this.run(() => this.taken(instanceId, take));
  }

  override takeFirst(instanceId: string, takes: readonly BudgetFirstTake[]): Promise<(BudgetTaken | undefined)[]> {
    return this.run(() =>
      takes.map((take) => {
        const grants = this.book.of(take);
        if (grants.has(instanceId) || this.isLocked()) return undefined;
        grants.set(instanceId, 0);
        return this.taken(instanceId, { ...take, row: 0 });
      }),
    );
  }

  private taken(instanceId: string, take: BudgetTake): BudgetTaken | undefined {
    const grants = this.book.of(take);
    const row = grants.get(instanceId);
    if (row === undefined) return undefined;
    const spent = this.book.spentOf(take);
    const elsewhere = this.book.grantedOf(take) - row;
    if (row !== take.row) return { spent, estimated: 0, elsewhere, row, target: undefined };
    const base = spent + elsewhere + take.inUse;
    let needs = 0;
    for (const [at, before] of take.steps.before.entries()) {
      if (base + before < take.budget) needs = Math.max(needs, take.steps.upTo[at] ?? 0);
    }
    const beyond = needs === 0 || take.parts === 0 ? 0 : Math.max(take.budget - base - needs, 0) / take.parts;
    const target = take.inUse + needs + Math.floor(beyond);
    grants.set(instanceId, target);
    return { spent, estimated: 0, elsewhere, row, target };
  }

  override giveBack(instanceId: string, returns: readonly BudgetReturn[]): Promise<(number | undefined)[]> {
    return this.run(() =>
      returns.map((one) => {
        const grants = this.book.of(one);
        const found = grants.get(instanceId);
        if (found === undefined || found !== one.row) return found;
        if (one.remove && one.inUse === 0) grants.delete(instanceId);
        else grants.set(instanceId, one.inUse);
        return found;
      }),
    );
  }

  override dropInstanceGrants(instanceId: string): Promise<DroppedGrants> {
    return this.run(() => {
      const forgotten = { grants: 0, nanoUsd: 0 };
      for (const grants of this.book.grants.values()) {
        const granted = grants.get(instanceId);
        if (granted === undefined) continue;
        forgotten.grants++;
        forgotten.nanoUsd += granted;
        grants.delete(instanceId);
      }
      return forgotten;
    });
  }

  override async listLapsed(): Promise<LapsedInstance[]> {
    return [];
  }

  override recall(key: string): Promise<void> {
    return this.run(() => {
      for (const hear of this.book.recalls) hear(key);
    });
  }

  private async run<T>(statement: () => T): Promise<T> {
    this.statements++;
    await this.gate('before');
    const result = statement();
    await this.gate('after');
    return result;
  }
}

function nameOf({ appId, scope, subject, window, periodStart }: BudgetKey): string {
  return JSON.stringify([appId, scope, subject, window, periodStart]);
}
