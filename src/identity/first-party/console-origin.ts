import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** The origin of the console: the setting `PUBLIC_URL`, or a loopback name of this machine. */
@Injectable()
export class ConsoleOrigin {
  /** Such as `https://gateway.example.com`; the base of links. */
  readonly url: string;
  readonly isHttps: boolean;
  readonly #named: string | undefined;

  constructor({ PUBLIC_URL, PORT }: Environment) {
    this.#named = PUBLIC_URL;
    this.url = PUBLIC_URL ?? `http://localhost:${PORT}`;
    this.isHttps = this.url.startsWith('https:');
  }

  /**
   * Whether an origin is the console's own.
   *
   * @param origin the `Origin` header, compared exactly.
   * @param port the local port of the request's socket; used when `PUBLIC_URL` is not set.
   */
  isOwn(origin: string, port: number | undefined): boolean {
    if (this.#named !== undefined) return origin === this.#named;
    return LOOPBACK_NAMES.some((name) => origin === `http://${name}:${port}`);
  }
}
