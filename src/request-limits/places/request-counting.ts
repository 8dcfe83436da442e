import type { Ready } from '../../common/when-ready.js';
import type { LimitedCall } from '../limited-call.js';

/** A place where requests are counted. Each method throws, itself or in the promise. */
export interface RequestCounting {
  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable, EpochOver. */
  admit(call: LimitedCall): Ready<void>;
  /** As `admit`, and counts nothing. */
  require(call: LimitedCall): Ready<void>;
  /** Requests of the calling user on the current UTC day; 0 where they are not counted. */
  countToday(call: LimitedCall): Ready<number>;
}

/** A place may not be counted in any longer; the call is to be counted in the next one. Never leaves this room. */
export class EpochOver extends Error {
  constructor() {
    super('requests are counted elsewhere now');
    this.name = 'EpochOver';
  }
}
