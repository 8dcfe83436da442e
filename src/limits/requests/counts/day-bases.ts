import { instantOf } from '../../../common/clock.js';
import type { RecordedRequests } from '../../../usage/recording/recorded-requests.service.js';
import { waitAtMost } from '../request-counting.js';
import { countsUnknown, WINDOW_MS } from '../request-limit.rules.js';
import type { UnloadedDay } from './call-windows.js';
import { UNKNOWN, type WindowCount } from './scope-counts.js';

const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** Agrees on the base of a day with all instances of an epoch: the base of the first instance that asks. */
export type AgreeOnBase = (appId: string, userId: string, dayStartMs: number, recorded: number) => Promise<number>;

/** Applies a base: `agreed` is the count before this epoch, `recorded` the number of stored requests now. */
export type ApplyBase = (window: WindowCount, agreed: number, recorded: number) => void;

/**
 * For counting in this process. A base is read again when a limit may have been off meanwhile; `recorded` then includes
 * this instance's own calls.
 */
export const applyBaseAlone: ApplyBase = (window, agreed, recorded) => {
  window.base = window.base === UNKNOWN ? agreed : Math.max(window.base, recorded - window.own);
  window.count = Math.max(window.count, window.base + window.own);
};

/**
 * For counting within a share. The stored count of an evicted scope may include this instance's own calls, which count
 * against its share and not against the shared rest.
 *
 * @param mayHaveEvicted whether scopes have been evicted.
 */
export function applyBaseInShare(mayHaveEvicted: () => boolean): ApplyBase {
  return (window, agreed, recorded) => {
    if (window.base === UNKNOWN && mayHaveEvicted()) window.unsureOwn = agreed;
    applyBaseAlone(window, agreed, recorded);
  };
}

/** For counting in Redis: the base is a lower bound of the Redis counter. */
export const applyBaseInRedis: ApplyBase = (window, agreed, recorded) => {
  window.base = Math.max(agreed, recorded);
};

/** Reads the count of a day from before this instance counts in it. */
export class DayBases {
  /** @param agree absent when this instance counts alone. */
  constructor(
    private readonly recorded: Pick<RecordedRequests, 'countOn'>,
    private readonly apply: ApplyBase = applyBaseAlone,
    private readonly agree?: AgreeOnBase,
  ) {}

  /**
   * Reads the day's `base`; concurrent calls share one query.
   *
   * @throws service_unavailable, in the promise, when the query takes longer than a second.
   */
  load(day: UnloadedDay): Promise<void> {
    const { window } = day;
    window.loading ??= this.read(day)
      .catch((error: unknown) => {
        throw countsUnknown(error);
      })
      .finally(() => {
        window.loading = undefined;
      });
    return waitAtMost(window.loading);
  }

  private async read({ scope, window }: UnloadedDay): Promise<void> {
    const { app, organizationId, userId } = scope;
    const dayStartMs = window.index * WINDOW_MS.day;
    const changes = app.changes;
    const day = instantOf(dayStartMs).toISOString().slice(0, DAY_CHARACTERS);
    const whose = { organizationId, appId: app.appId, userId: userId === '' ? null : userId };
    const recorded = await this.recorded.countOn(whose, day);
    const agreed = (await this.agree?.(app.appId, userId, dayStartMs, recorded)) ?? recorded;
    this.apply(window, agreed, recorded);
    window.checkedAt = changes;
  }
}
