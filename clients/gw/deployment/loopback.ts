import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const ADDRESS = '127.0.0.1';
const PATH = '/callback';
const CODE = /^[A-Za-z0-9_-]{32,256}$/;
const PAGE =
  '<!doctype html><meta charset="utf-8"><title>gw</title><p>You are logged in. You can close this page.</p>\n';
const HEADERS = {
  ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  ...{ 'content-security-policy': "default-src 'none'; frame-ancestors 'none'", connection: 'close' },
};

/** A listener on this machine alone, for the one redirect that ends a login (RFC 8252, section 7.3). */
export interface Loopback<T> {
  readonly redirect: string;
  /** The result of redeeming the code of the redirect. */
  readonly redeemed: Promise<T>;
  close(): void;
}

/**
 * Listens on a random port. Any other request gets 404 and changes nothing: any program of this machine, and any page
 * of its browser, can send a code.
 *
 * @param redeem redeems a code; undefined if it is not that of the login.
 */
export async function listenOnLoopback<T>(redeem: (code: string) => Promise<T | undefined>): Promise<Loopback<T>> {
  let settle: { done(value: T): void; failed(reason: unknown): void } | undefined;
  const redeemed = new Promise<T>((done, failed) => {
    settle = { done, failed };
  });
  // An unhandled rejection must not end the process.
  redeemed.catch(() => undefined);
  const server = createServer(async (request, response) => {
    const code = codeIn(request);
    try {
      const value = code === undefined ? undefined : await redeem(code);
      if (value === undefined) response.writeHead(404, HEADERS).end();
      else response.writeHead(200, HEADERS).end(PAGE, () => settle?.done(value));
    } catch (error) {
      response.writeHead(404, HEADERS).end(() => settle?.failed(error));
    }
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(0, ADDRESS, listening);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { redirect: `http://${ADDRESS}:${port}${PATH}`, redeemed, close };
}

function codeIn({ method, url = '' }: IncomingMessage): string | undefined {
  if (method !== 'GET' || !url.startsWith(`${PATH}?`)) return undefined;
  const code = new URLSearchParams(url.slice(PATH.length)).get('code') ?? '';
  return CODE.test(code) ? code : undefined;
}
