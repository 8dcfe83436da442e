/** One client's connection to the authentication routes of an application. */
import { Connection, requestBytes } from '../connection.mjs';

export class PhoneLine {
  #port;
  #connection;
  #fail;

  constructor(port) {
    this.#port = port;
    this.#connection = new Connection(port, () => this.#fail?.(new Error('the connection was lost')));
  }

  /**
   * Posts to `/v1/apps/<appId>/auth/<route>` and answers with the JSON of a 200. Throws for anything else.
   *
   * @param {string} address of the client, as a trusted proxy names it
   */
  post({ appId, route, address }, body) {
    const target = {
      port: this.#port,
      path: `/v1/apps/${appId}/auth/${route}`,
      headers: { 'x-forwarded-for': address },
    };
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      const parts = [];
      this.#connection.send(requestBytes(target, JSON.stringify(body)), {
        onBody: (bytes) => parts.push(Buffer.from(bytes)),
        onEnd: (statusCode) => {
          const text = Buffer.concat(parts).toString();
          if (statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${route} answered ${statusCode}: ${text.slice(0, 400)}`));
        },
      });
    });
  }

  close() {
    this.#connection.destroy();
  }
}
