import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listening } from '../../loopback.js';

/** The answer of the server; `undefined`: the connection is closed. */
type ListAnswer = { readonly status?: number; readonly body: string; readonly etag?: string } | undefined;

/** A vendor's list of revoked Android keys, on the loopback. */
export interface RevocationListServer {
  readonly url: string;
  /** Headers of the requests so far. */
  readonly asked: readonly IncomingHttpHeaders[];
  answer: ListAnswer;
  /** From now on, these serial numbers are listed with their status. */
  list(entries: Readonly<Record<string, string>>, etag?: string): void;
  stop(): Promise<void>;
}

/** Answers 304 to the ETag of the current list. */
export async function startRevocationList(): Promise<RevocationListServer> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    if (answers.answer === undefined) return request.socket.destroy();
    const { status = 200, body, etag } = answers.answer;
    if (etag !== undefined && request.headers['if-none-match'] === etag) return response.writeHead(304).end();
    response.writeHead(status, { 'cache-control': 'max-age=86400', ...(etag !== undefined && { etag }) }).end(body);
  });
  const loopback = await listening(server);
  const answers: RevocationListServer = {
    url: `${loopback.url}/attestation/status`,
    asked,
    answer: { body: '{"entries":{}}' },
    list(entries, etag) {
      const named = Object.entries(entries).map(([serial, status]) => [serial, { status, reason: 'KEY_COMPROMISE' }]);
      const body = JSON.stringify({ entries: Object.fromEntries(named) });
      answers.answer = etag === undefined ? { body } : { body, etag };
    },
    stop: () => loopback.close(),
  };
  return answers;
}
