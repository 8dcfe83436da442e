import { instantOf } from '../../common/clock.js';
import type { RecordedRequests } from '../../usage/recorded-requests.service.js';
import { countsUnknown, WINDOW_MS } from '../request-limit.rules.js';
import { waitAtMost } from '../wait-at-most.js';
import type { OpenDay } from './call-windows.js';
import { UNKNOWN, type WindowCount } from './scope-counts.js';

const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** Makes all instances that count in one epoch begin a day with the same number: that of the first who asks. */
export type AgreeOnBase = (appId: string, userId: string, dayStartMs: number, recorded: number) => Promise<number>;

/**
 * Takes an answer over: `agreed` is what had been counted before anybody counted in this epoch, `recorded` what is
 * stored by now.
 */
export type TakeBase = (window: WindowCount, agreed: number, recorded: number) => void;

/**
 * For counts in this process. Asked again, because a limit may have been off for a while, `recorded` holds this
 * instance's own calls, too.
 */
export const takeBaseHere: TakeBase = (window, agreed, recorded) => {
  window.base = window.base === UNKNOWN ? agreed : Math.max(window.base, recorded - window.own);
  window.count = Math.max(window.count, window.base + window.own);
};

/**
 * For counts within a share: what is stored of a scope that has left may be this instance's own calls, which count
 * against its share and not against what is shared.
 *
 * @param mayHaveLeft whether scopes have left.
 */
export function takeBaseInShare(mayHaveLeft: () => boolean): TakeBase {
  return (window, agreed, recorded) => {
    if (window.base === UNKNOWN && mayHaveLeft()) window.unsureOwn = agreed;
    takeBaseHere(window, agreed, recorded);
  };
}

/** For counts in Redis: never less than this; the count itself is what Redis says. */
export const takeBaseAsFloor: TakeBase = (window, agreed, recorded) => {
  window.base = Math.max(agreed, recorded);
};

/** Finds out what had been counted of a day before this instance counts in it. */
export class DayBases {
  /** @param agree absent where this instance counts alone. */
  constructor(
    private readonly recorded: Pick<RecordedRequests, 'countOn'>,
    private readonly take: TakeBase = takeBaseHere,
    private readonly agree?: AgreeOnBase,
  ) {}

  /**
   * Asks once, however many calls wait, and sets the day's `base`.
   *
   * @throws service_unavailable, in the promise, when there is no answer within a second.
   */
  ask(day: OpenDay): Promise<void> {
    const { window } = day;
    window.asking ??= this.read(day)
      .catch((error: unknown) => {
        throw countsUnknown(error);
      })
      .finally(() => {
        window.asking = undefined;
      });
    return waitAtMost(window.asking);
  }

  private async read({ scope, window }: OpenDay): Promise<void> {
    const { app, organizationId, userId } = scope;
    const dayStartMs = window.index * WINDOW_MS.day;
    const askedAt = app.changes;
    const day = instantOf(dayStartMs).toISOString().slice(0, DAY_CHARACTERS);
    const whose = { organizationId, appId: app.appId, userId: userId === '' ? null : userId };
    const recorded = await this.recorded.countOn(whose, day);
    const agreed = (await this.agree?.(app.appId, userId, dayStartMs, recorded)) ?? recorded;
    this.take(window, agreed, recorded);
    window.checkedAt = askedAt;
  }
}
