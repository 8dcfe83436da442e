import { GivenUp } from '../round-trip/provider-failure.rules.js';

/** A request that is ready to send. */
export interface WaitingRequest {
  /** Records the request before the wait for the disk; without that wait, `send` records it. */
  admit(): void;
  send(): void;
  /** Called with the error of `admit`, of `send` or of the disk; no other code handles it. */
  failed(error: Error): void;
}

/**
 * Sends requests: those that become ready together in succession, after the event loop has read from all sockets, so
 * that none is written to a connection on which the provider has sent anything since its last answer. Where requests
 * wait for the disk, all requests of a turn share one wait, and those that arrive meanwhile share the next one (ADR
 * 0003).
 */
export class SendBatch {
  #waiting: WaitingRequest[] = [];
  #isBusy = false;

  /** @param onDisk flushes the journal to disk; absent where requests do not wait for that. */
  constructor(private readonly onDisk?: () => Promise<void>) {}

  add(request: WaitingRequest): void {
    this.#waiting.push(request);
    if (this.#waiting.length > 1 || this.#isBusy) return;
    const { onDisk } = this;
    setImmediate(() => {
      if (onDisk === undefined) this.#run();
      else void this.#runSynced(onDisk);
    });
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const request of waiting) attempt(request, () => request.send());
  }

  async #runSynced(onDisk: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const written = waiting.filter((request) => attempt(request, () => request.admit(), notRecordable));
      const error = written.length === 0 ? undefined : await onDisk().then(() => undefined, notRecordable);
      for (const request of written) {
        if (error === undefined) attempt(request, () => request.send());
        else request.failed(error);
      }
    } finally {
      this.#isBusy = false;
      if (this.#waiting.length > 0) void this.#runSynced(onDisk);
    }
  }
}

/** @returns whether `act` succeeded; otherwise the request has received the error. */
function attempt(request: WaitingRequest, act: () => void, asFailure = asError): boolean {
  try {
    act();
    return true;
  } catch (error) {
    request.failed(asFailure(error));
    return false;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the request could not be sent');
}

function notRecordable(error: unknown): Error {
  return new GivenUp('not_recordable', { cause: error });
}
