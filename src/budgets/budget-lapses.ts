import type { Clock } from '../common/clock.js';
import type { Log } from '../common/log/log.js';
import { type BudgetsRepository, GRANT_LEASE_MS } from './budgets.repository.js';

export interface BudgetLapsesOptions {
  readonly repository: BudgetsRepository;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Expires the grants of dead instances that no process recovers. An instance without a registry row gets one lease from
 * the moment its absence is noticed.
 */
export class BudgetLapses {
  private unknownSinceMs = new Map<string, number>();

  constructor(private readonly options: BudgetLapsesOptions) {}

  /** Never rejects. */
  async look(): Promise<void> {
    const { repository, instanceId, clock, onTrouble } = this.options;
    try {
      const lapsed = (await repository.listLapsed()).filter(({ id }) => id !== instanceId);
      const nowMs = clock.monotonicMs();
      const unknown = lapsed.filter(({ isUnknown }) => isUnknown);
      this.unknownSinceMs = new Map(unknown.map(({ id }) => [id, this.unknownSinceMs.get(id) ?? nowMs]));
      for (const { id } of lapsed) {
        if (nowMs - (this.unknownSinceMs.get(id) ?? Number.NEGATIVE_INFINITY) >= GRANT_LEASE_MS) await this.expire(id);
      }
    } catch (error) {
      onTrouble(error);
    }
  }

  private async expire(instance: string): Promise<void> {
    const { repository, log } = this.options;
    const { grants, nanoUsd } = await repository.forgetInstance(instance);
    if (grants > 0) log.event('budget_grants_expired', { instance, grants, nanoUsd });
  }
}
