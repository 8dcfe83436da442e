import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Where people reach the console: the setting `PUBLIC_URL`, or this machine by any of its names for itself. */
@Injectable()
export class ConsoleOrigin {
  /** Such as `https://gateway.example.com`; links begin with it. */
  readonly url: string;
  readonly isHttps: boolean;
  readonly #named: string | undefined;

  constructor({ PUBLIC_URL, PORT }: Environment) {
    this.#named = PUBLIC_URL;
    this.url = PUBLIC_URL ?? `http://localhost:${PORT}`;
    this.isHttps = this.url.startsWith('https:');
  }

  /**
   * Whether a page of this origin is the console's own.
   *
   * @param origin the `Origin` header, compared exactly.
   * @param port of the socket the request came in on; used where no `PUBLIC_URL` is set.
   */
  isOwn(origin: string, port: number | undefined): boolean {
    if (this.#named !== undefined) return origin === this.#named;
    return LOOPBACK_NAMES.some((name) => origin === `http://${name}:${port}`);
  }
}
