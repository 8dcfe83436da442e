/**
 * Open loop: calls leave at a fixed rate whether or not earlier ones were answered, and each is timed from the moment
 * it was due, so a party that stalls cannot hide the calls it delayed. All parties are measured at once, in turn, so
 * the machine's noise and the timer's lateness fall on all of them alike.
 */
import { nowMs } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { summary } from './statistics.mjs';

const OPEN_CONNECTIONS = 16;
const ANSWER_PATIENCE_MS = 3_000;

/**
 * @typedef {{ count: number, p50: number, p99: number, max: number }} Times of calls, ms
 * @returns {Promise<Array<Times & { failed: number, fromSent: Times }>>} per target; `fromSent` leaves out how late the
 *   call left
 */
export async function openLoop({ targets, body, ratePerTarget, warmMs, durationMs }) {
  const callers = targets.map((target) => new Caller(target, body));
  const stepMs = 1e3 / (ratePerTarget * targets.length);
  const firstAtMs = nowMs() + 100;
  await sendOnSchedule(callers, {
    firstAtMs,
    stepMs,
    measureFromMs: firstAtMs + warmMs,
    untilMs: firstAtMs + warmMs + durationMs,
  });
  const giveUpAtMs = nowMs() + ANSWER_PATIENCE_MS;
  while (callers.some((caller) => caller.pending > 0) && nowMs() < giveUpAtMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return callers.map((caller) => caller.finish());
}

function sendOnSchedule(callers, { firstAtMs, stepMs, measureFromMs, untilMs }) {
  return new Promise((resolve) => {
    let sent = 0;
    const tick = () => {
      for (let dueMs = firstAtMs + sent * stepMs; dueMs <= nowMs(); dueMs = firstAtMs + sent * stepMs) {
        if (dueMs >= untilMs) {
          resolve();
          return;
        }
        callers[sent % callers.length].send(dueMs, dueMs >= measureFromMs);
        sent += 1;
      }
      setTimeout(tick, Math.max(0, Math.floor(firstAtMs + sent * stepMs - nowMs())));
    };
    tick();
  });
}

class Caller {
  pending = 0;
  #port;
  #request;
  #idle = [];
  #all = new Set();
  #status;
  #fromDueMs = [];
  #fromSentMs = [];
  #failed = 0;

  constructor(target, body) {
    this.#port = target.port;
    this.#request = requestBytes(target, body);
    this.#status = target.status ?? 200;
    for (let i = 0; i < OPEN_CONNECTIONS; i += 1) this.#idle.push(this.#open());
  }

  send(dueMs, isMeasured) {
    const slot = this.#idle.pop() ?? this.#open();
    slot.isBusy = true;
    this.pending += 1;
    const sentMs = nowMs();
    slot.connection.send(this.#request, {
      onEnd: (statusCode) => {
        slot.isBusy = false;
        this.pending -= 1;
        this.#idle.push(slot);
        if (statusCode !== this.#status) this.#failed += 1;
        else if (isMeasured) this.#measure(dueMs, sentMs);
      },
    });
  }

  finish() {
    for (const slot of this.#all) slot.connection.destroy();
    const failed = this.#failed + this.pending;
    return { failed, ...summary(this.#fromDueMs), fromSent: summary(this.#fromSentMs) };
  }

  #measure(dueMs, sentMs) {
    const endMs = nowMs();
    this.#fromDueMs.push(endMs - dueMs);
    this.#fromSentMs.push(endMs - sentMs);
  }

  #open() {
    const slot = { isBusy: false, connection: null };
    slot.connection = new Connection(this.#port, () => {
      this.#all.delete(slot);
      this.#idle = this.#idle.filter((other) => other !== slot);
      if (!slot.isBusy) return;
      this.pending -= 1;
      this.#failed += 1;
    });
    this.#all.add(slot);
    return slot;
  }
}
