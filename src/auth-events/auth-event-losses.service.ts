import { Injectable } from '@nestjs/common';
import { Log } from '../common/log/log.js';

const LOG_EVERY_MS = 1_000;

/** Counts lost events and logs them: at once, then at most once a second. */
@Injectable()
export class AuthEventLosses {
  private untold = 0;
  private error: unknown;
  /** Set while no further line may be written. */
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly log: Log) {}

  /** @param error the cause; the log line holds the latest. */
  add(events: number, error: unknown): void {
    this.untold += events;
    this.error = error;
    if (this.timer === undefined) this.tellAndPause();
  }

  /** Logs the pending count now, also within the second. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.tell();
  }

  private tellAndPause(): void {
    this.tell();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.untold > 0) this.tellAndPause();
    }, LOG_EVERY_MS).unref();
  }

  private tell(): void {
    if (this.untold === 0) return;
    this.log.event('auth_event_record_failed', { events: this.untold, error: String(this.error) });
    this.untold = 0;
  }
}
