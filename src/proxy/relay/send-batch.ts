import { GivenUp } from '../exchange/provider-failure.rules.js';

/** A request that is ready to leave. */
interface WaitingRequest {
  /** Writes down that it leaves, where requests wait for the disk; otherwise it does so itself when it is sent. */
  admit(): void;
  send(): void;
  /** Told what `admit` or `send` threw, or that the disk did not take it: nobody else is listening any more. */
  failed(error: Error): void;
}

/**
 * Sends the requests of one turn of the event loop together, at its end. Written one after the other they wake a
 * provider's receivers once; scattered over the turn, each write pays for a wake-up of its own. Measured: a twentieth of
 * what a call costs. Nothing waits longer than the turn it belongs to, so a lone request does not wait.
 *
 * Where requests wait for the disk, all of a turn share one wait, and those that come meanwhile share the next (ADR 0037).
 */
export class SendBatch {
  #waiting: WaitingRequest[] = [];
  #isBusy = false;

  /** @param onDisk forces to the disk what was written down; absent where nobody waits for that. */
  constructor(private readonly onDisk?: () => Promise<void>) {}

  add(request: WaitingRequest): void {
    this.#waiting.push(request);
    if (this.#waiting.length === 1 && !this.#isBusy) setImmediate(() => this.#sendWaiting());
  }

  /** What is added by a send itself belongs to the next turn. */
  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.onDisk !== undefined) void this.#sendWritten(waiting, this.onDisk);
    else for (const request of waiting) attempt(request, () => request.send());
  }

  async #sendWritten(waiting: readonly WaitingRequest[], onDisk: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    try {
      const written = waiting.filter((request) => attempt(request, () => request.admit(), notRecordable));
      const error = written.length === 0 ? undefined : await onDisk().then(() => undefined, notRecordable);
      for (const request of written) {
        if (error === undefined) attempt(request, () => request.send());
        else request.failed(error);
      }
    } finally {
      this.#isBusy = false;
      if (this.#waiting.length > 0) this.#sendWaiting();
    }
  }
}

/** @returns whether it worked; the request was told otherwise. */
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
