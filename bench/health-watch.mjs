/** Feels a server's event loop from outside: a health check every 20 ms, whether or not the last one was answered. */
import { nowMs } from './clock.mjs';
import { Connection } from './connection.mjs';

const EVERY_MS = 20;

export class HealthWatch {
  #port;
  #request;
  #idle = [];
  #all = new Set();
  #waitingSinceMs = new Map();
  #longestMs = 0;
  #timer;

  constructor(port, healthPath) {
    this.#port = port;
    this.#request = Buffer.from(`GET ${healthPath} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    this.#timer = setInterval(() => this.#ask(), EVERY_MS);
  }

  /** The longest answer since the last call of this, unanswered checks included, milliseconds. */
  longestMs() {
    const waitingMs = [...this.#waitingSinceMs.values()].map((sinceMs) => nowMs() - sinceMs);
    const longestMs = Math.max(this.#longestMs, ...waitingMs);
    this.#longestMs = 0;
    return longestMs;
  }

  stop() {
    clearInterval(this.#timer);
    for (const connection of this.#all) connection.destroy();
  }

  #ask() {
    const connection = this.#idle.pop() ?? this.#open();
    const sentMs = nowMs();
    this.#waitingSinceMs.set(connection, sentMs);
    connection.send(this.#request, {
      onEnd: () => {
        this.#waitingSinceMs.delete(connection);
        this.#longestMs = Math.max(this.#longestMs, nowMs() - sentMs);
        this.#idle.push(connection);
      },
    });
  }

  /** A refused or dropped check stays in `#waitingSinceMs`: a server that hangs up is not a server that answered. */
  #open() {
    const connection = new Connection(this.#port, () => {
      this.#all.delete(connection);
      this.#idle = this.#idle.filter((other) => other !== connection);
    });
    this.#all.add(connection);
    return connection;
  }
}
