import { Injectable } from '@nestjs/common';
import type { Ready } from '../../common/when-ready.js';
import type { LimitedCall } from './limited-call.js';

/** Request limits of applications and of their users, by minute and by UTC day. */
@Injectable()
export class RequestLimits {
  /**
   * Counts a call in all its scopes, or refuses it and counts it in none: user before application, minute before day.
   *
   * @returns at once where this instance counts alone; after one question to Redis otherwise.
   * @throws app_rate_limited, service_unavailable (what others have counted cannot be known now).
   * Source: contract-app 8.1, 8.2.
   */
  admit(call: LimitedCall): Ready<void> {
    void call;
  }

  /** Refuses a call whose user is beyond its limits; counts nothing. @throws as `admit`. */
  requireUser(call: LimitedCall): Ready<void> {
    void call;
  }

  /** Requests of a user that were counted on the current UTC day. */
  countToday(call: LimitedCall): Ready<number> {
    void call;
    return 0;
  }
}
