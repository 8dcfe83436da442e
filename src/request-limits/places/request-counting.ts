import type { Ready } from '../../common/when-ready.js';
import type { LimitedCall } from '../limited-call.js';

/** A place of counting. Each method throws synchronously or rejects. */
export interface RequestCounting {
  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable, EpochOver. */
  admit(call: LimitedCall): Ready<void>;
  /** Checks like `admit` without counting. */
  require(call: LimitedCall): Ready<void>;
  /** Requests of the calling user on the current UTC day; 0 when they are not counted. */
  countToday(call: LimitedCall): Ready<number>;
}

/** The place must not count any more; the call is counted in the next one. Internal to this module. */
export class EpochOver extends Error {
  constructor() {
    super('requests are counted elsewhere now');
    this.name = 'EpochOver';
  }
}
