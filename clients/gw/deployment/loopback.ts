import { createServer } from 'node:http';
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
export interface Loopback {
  readonly redirect: string;
  /** The one-time code of the redirect. */
  readonly code: Promise<string>;
  close(): void;
}

/** Listens on a random port. Whatever is not the redirect is answered 404 and changes nothing. */
export async function listenOnLoopback(): Promise<Loopback> {
  const { promise: code, resolve } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${ADDRESS}`);
    const given = searchParams.get('code') ?? '';
    if (request.method !== 'GET' || pathname !== PATH || !CODE.test(given)) {
      response.writeHead(404, HEADERS).end();
      return;
    }
    response.writeHead(200, HEADERS).end(PAGE, () => resolve(given));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(0, ADDRESS, listening);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { redirect: `http://${ADDRESS}:${port}${PATH}`, code, close };
}
