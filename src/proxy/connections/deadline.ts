/**
 * A time limit that starts and stops with every call of a connection. It keeps its timer, which may fire once after it
 * has been stopped: a new timer for each call costs a hundredth of the call, and survives it.
 */
export class Deadline {
  #timer: NodeJS.Timeout | undefined;
  #durationMs = 0;
  #isRunning = false;

  constructor(private readonly onExpiry: () => void) {}

  /** Starts it, or starts it again. @param durationMs milliseconds; 0 = no limit. */
  start(durationMs: number): void {
    this.#isRunning = durationMs > 0;
    if (!this.#isRunning) return;
    if (this.#timer !== undefined && durationMs === this.#durationMs) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#durationMs = durationMs;
    this.#timer = setTimeout(() => this.#expire(), durationMs).unref();
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** Stops it for good. */
  end(): void {
    this.stop();
    clearTimeout(this.#timer);
  }

  #expire(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.onExpiry();
  }
}
