import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { badLength, dieAfter, event, garbage, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { openRaw, type RawAnswer, type RawConnection } from '../../support/raw-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/responses';
const BODY = '{"model":"gpt-4.1"}';
const TEXT = `{"text":"${'x'.repeat(1000)}"}`;
const OK_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const STALL_SECONDS = 1;
/** Far more than the sockets between provider and client hold. */
const LARGE_BYTES = 32 * 1024 * 1024;

/** Clients by the framing they understand: version and further header lines. */
const CLIENTS: [name: string, version: string, lines: string, chunked: boolean][] = [
  ['HTTP/1.0', '1.0', '', false],
  ['HTTP/1.0 that keeps its connection', '1.0', 'Connection: keep-alive\r\n', false],
  ['HTTP/1.0 that offers to take chunks', '1.0', 'TE: chunked\r\nConnection: TE\r\n', false],
  ['HTTP/1.1 that closes', '1.1', 'Connection: close\r\n', true],
  ['HTTP/1.1', '1.1', '', true],
];

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  const env = { PROVIDER_SILENCE_TIMEOUT_SECONDS: '1', CLIENT_STALL_TIMEOUT_SECONDS: String(STALL_SECONDS) };
  world = await startWorld({ env: { ...env, ABORT_DRAIN_SECONDS: '1' } });
});

beforeEach(async () => {
  world.logs.length = 0;
  client = await ProxyClient.create(world);
});

afterAll(() => world.stop());

function open(version: string, lines: string): RawConnection {
  const target = `/v1/apps/${client.appId}/proxy/${client.slug}/${PATH}`;
  const head = `POST ${target} HTTP/${version}\r\nHost: a\r\n${lines}Authorization: Bearer ${client.key}\r\n`;
  return openRaw(
    world.baseUrl,
    `${head}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  );
}

const headOf = ({ text }: Pick<RawAnswer, 'text'>) => text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase();
const bodyOf = ({ text }: Pick<RawAnswer, 'text'>) => text.slice(text.indexOf('\r\n\r\n') + 4);

/**
 * Whether the framing of the received bytes marks them as complete; undefined if only the end of the connection can.
 */
function delimitedEnd(answer: Pick<RawAnswer, 'text'>): boolean | undefined {
  const head = headOf(answer);
  if (head.includes('transfer-encoding: chunked')) return bodyOf(answer).endsWith('0\r\n\r\n');
  const length = /content-length: (\d+)/.exec(head)?.[1];
  return length === undefined ? undefined : bodyOf(answer).length >= Number(length);
}

/** An answer of which the client cannot tell whether it is broken, or takes it for complete. */
function looksComplete(answer: RawAnswer): boolean {
  return delimitedEnd(answer) ?? answer.end === 'closed';
}

const compressed = gzipSync(TEXT);
const gzip = (bytes: Buffer): Script => json(200, bytes, { 'content-encoding': 'gzip' });
const stopsAfter =
  (piece: string): Script =>
  async ({ body, response }) => {
    await body();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece);
  };

/** Answers that break off after their first byte. */
const BROKEN: [string, Script][] = [
  ['dies in a chunked body', dieAfter(500, TEXT)],
  ['sends less than its length', badLength(2000, TEXT)],
  ['ends without the last chunk', garbage(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`)],
  ['sends a broken chunk', garbage(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`)],
  ['cuts a compressed body short', gzip(compressed.subarray(0, compressed.length - 8))],
  ['falls silent', stopsAfter(event('{}'))],
];

describe.each(CLIENTS)('a client of %s (RFC 9112, section 6.3)', (_name, version, lines, chunked) => {
  it.each<[string, Script, string]>([
    ['with a length', json(200, TEXT), TEXT],
    ['without one', sse([event('1'), event('2')], { delayMs: 5 }), event('1') + event('2')],
    ['without a body', json(200, ''), ''],
  ])('complete answer %s → complete, with a framing that the client understands', async (_kind, script, text) => {
    world.upstream.script(script);
    const connection = open(version, lines);
    let ended = false;
    const answered = connection.answer.finally(() => {
      ended = true;
    });
    await eventually(() => ended || delimitedEnd({ text: connection.text() }) === true, { withinMs: 10_000 });
    connection.socket.end();
    const answer = await answered;
    expect([answer.end, looksComplete(answer)]).toEqual(['closed', true]);
    if (chunked) return;
    expect(headOf(answer)).not.toContain('transfer-encoding');
    expect(bodyOf(answer)).toBe(text);
  });

  it.each(BROKEN)('a provider that %s → the answer does not look complete', async (_kind, script) => {
    world.upstream.script(script);
    const answer = await open(version, lines).answer;
    expect(answer.text).toMatch(/^HTTP\/1\.1 (200|502) /);
    if (answer.text.startsWith('HTTP/1.1 502')) expect(looksComplete(answer)).toBe(true);
    else expect(looksComplete(answer)).toBe(false);
    expect(await client.events()).toMatchObject([{ status: 'provider_error', client_aborted: null }]);
  });

  it('a client that reads nothing for CLIENT_STALL_TIMEOUT_SECONDS → closed, and its part does not look complete', async () => {
    const piece = event('x'.repeat(16 * 1024));
    world.upstream.script(async ({ body, response }) => {
      await body();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let sent = 0; sent < LARGE_BYTES && !response.destroyed; sent += piece.length) {
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      }
      response.end();
    });
    const connection = open(version, lines);
    connection.socket.pause();
    const isCut = () => world.logs.some(({ message }) => message === 'client_stalled');
    await eventually(isCut, { withinMs: 10_000 });
    connection.socket.resume();
    expect(looksComplete(await connection.answer)).toBe(false);
    expect(await client.events()).toMatchObject([{ status: 'ok', client_aborted: 1 }]);
  });

  it('a client that sends invalid HTTP during its response → closed, and its part does not look complete', async () => {
    world.upstream.script(stopsAfter(event('{}')));
    const connection = open(version, lines);
    await eventually(() => connection.text().includes('data:'), { withinMs: 10_000 });
    connection.socket.write('\x00 no HTTP\r\n\r\n');
    expect(looksComplete(await connection.answer)).toBe(false);
  });
});
