import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answersIn, changedMessage } from '../../proof/requests/raw-requests.js';
import { Chance } from '../../support/chance.js';
import { eventually } from '../../support/eventually.js';
import { fuzzRuns } from '../../support/jest/fuzz-runs.js';
import { openRaw, type RawAnswer } from '../../support/raw-client.js';
import { startWorld, type World } from '../../support/world.js';

const RUNS = fuzzRuns(200);
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
/** The timeout for a connection: before the ten seconds after which unread bodies end one in any case. */
const BOUND_MS = 9_000;
/** The time of an undisturbed answer. */
const USUAL_MS = 60;

const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
const BODY = JSON.stringify({ name: 'Raw', config: CONFIG });
const SIZE = BODY.length.toString(16);

let world: World;
/** Host and credential. */
let proof: string;
/** Sockets of this process, before the service has begun. */
let socketsBefore: number;

const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

beforeAll(async () => {
  socketsBefore = openSockets();
  world = await startWorld();
  proof = `Host: a\r\nAuthorization: Bearer ${world.managementKey}\r\n`;
});

beforeEach(() => {
  world.logs.length = 0;
});

/** No socket stays open: one that Node fails to close is in no list of the server. */
afterAll(async () => {
  await world.stop();
  await eventually(() => openSockets() <= socketsBefore, { withinMs: BOUND_MS });
});

/** Fails when a connection outlives the bound. */
async function ended(answer: Promise<RawAnswer>): Promise<RawAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`still open after ${BOUND_MS} ms`)), BOUND_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Sends bytes; the service has to end the connection. */
const exchange = (bytes: string) => ended(openRaw(world.baseUrl, bytes).answer);
const statusesOf = ({ text }: RawAnswer) => answersIn(text).map(({ status }) => status);
const linesOfRefusals = () => world.logs.filter(({ message }) => message === 'gateway_error');
const apps = async () => (await world.api.get('/v1/admin/apps')).body.apps.length;

const get = (target: string, version = 'HTTP/1.1') => `GET ${target} ${version}\r\n`;
const post = (version = 'HTTP/1.1') => `POST /v1/admin/apps ${version}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LAST = 'Connection: close\r\n';
const many = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join('');

/** Start line, further header lines, what follows the head. */
type Message = readonly [name: string, start: string, lines: string, rest: string, status: number];

const REFUSED: readonly Message[] = [
  ['a target of 40 kB', get(`/v1/admin/${'a'.repeat(40_000)}`), '', '', 431],
  ['a header of 33 kB', get('/v1/admin/session'), `X: ${'a'.repeat(33_000)}\r\n`, '', 431],
  ['3 000 headers', get('/v1/admin/session'), many(3_000, (at) => `h${at}: 1\r\n`), '', 431],
  ['a megabyte of target', get(`/${'a'.repeat(1_000_000)}`), '', '', 431],
  ['no slash', get('v1/admin/session'), '', '', 400],
  ['a blank in the target', get('/v1/admin/ses sion'), '', '', 400],
  ['NUL in the target', get('/v1/admin/\0session'), '', '', 400],
  ['a byte beyond ASCII', get('/v1/admin/\xe9'), '', '', 400],
  ['HTTP/0.9', 'GET /v1/admin/session\r\n', '', '', 400],
  ['HTTP/1.2', get('/v1/admin/session', 'HTTP/1.2'), '', '', 400],
  ['HTTP/2.0 in the form of HTTP/1.1', get('/v1/admin/session', 'HTTP/2.0'), '', '', 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n', '', 'SM\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '', '', 400],
  ['a method nobody knows', 'FOO /v1/admin/session HTTP/1.1\r\n', '', '', 400],
  ['line ends without CR', get('/v1/admin/session').replace('\r', ''), '', '', 400],
  ['NUL in a header', get('/v1/admin/session'), 'X: a\0b\r\n', '', 400],
  ['a control character in a header', get('/v1/admin/session'), 'X-App-Version: a\x01b\r\n', '', 400],
  ['a blank in the name of a header', get('/v1/admin/session'), 'X Y: a\r\n', '', 400],
  ['a header without a colon', get('/v1/admin/session'), 'X\r\n', '', 400],
  ['a header over two lines', get('/v1/admin/session'), 'X: a\r\n b\r\n', '', 400],
  ['two lengths', post(), `${JSON_TYPE}Content-Length: ${BODY.length}\r\nContent-Length: 3\r\n`, BODY, 400],
  ['a list of lengths', post(), `${JSON_TYPE}Content-Length: ${BODY.length}, ${BODY.length}\r\n`, BODY, 400],
  ['a signed length', post(), `${JSON_TYPE}Content-Length: +${BODY.length}\r\n`, BODY, 400],
  ['a length in hexadecimals', post(), `${JSON_TYPE}Content-Length: 0x10\r\n`, BODY, 400],
  ['a length below zero', post(), `${JSON_TYPE}Content-Length: -1\r\n`, BODY, 400],
  ['a length beyond 64 bits', post(), `${JSON_TYPE}Content-Length: ${'9'.repeat(23)}\r\n`, BODY, 400],
  ['a length beyond 53 bits', post(), `${JSON_TYPE}Content-Length: 9007199254740993\r\n${LAST}`, BODY, 413],
  ['a length and chunks', post(), `${JSON_TYPE}Content-Length: 3\r\n${CHUNKED}`, '0\r\n\r\n', 400],
  ['chunks and a length', post(), `${JSON_TYPE}${CHUNKED}Content-Length: 3\r\n`, '0\r\n\r\n', 400],
  ['chunks in chunks', post(), `${JSON_TYPE}Transfer-Encoding: chunked, chunked\r\n`, '0\r\n\r\n', 400],
  ['chunks before a blank and a colon', post(), `${JSON_TYPE}Transfer-Encoding : chunked\r\n`, '0\r\n\r\n', 400],
  ['chunks behind a vertical tab', post(), `${JSON_TYPE}Transfer-Encoding: \x0bchunked\r\n`, '0\r\n\r\n', 400],
  ['chunks by another name', post(), `${JSON_TYPE}Transfer-Encoding: xchunked\r\n`, '0\r\n\r\n', 400],
  [
    'chunks in HTTP/1.0',
    post('HTTP/1.0'),
    `${JSON_TYPE}${CHUNKED}Connection: keep-alive\r\n`,
    `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`,
    400,
  ],
  ['a chunk of no size', post(), JSON_TYPE + CHUNKED, `zz\r\n${BODY}\r\n0\r\n\r\n`, 400],
  ['a chunk below zero', post(), JSON_TYPE + CHUNKED, `-1\r\n${BODY}\r\n0\r\n\r\n`, 400],
  ['a chunk beyond 64 bits', post(), JSON_TYPE + CHUNKED, `${'F'.repeat(18)}\r\n${BODY}`, 400],
  ['a chunk longer than it says', post(), JSON_TYPE + CHUNKED, `5\r\n${BODY}\r\n0\r\n\r\n`, 400],
  [
    'an extension of a chunk of 20 kB',
    post(),
    JSON_TYPE + CHUNKED,
    `${SIZE};${'a'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`,
    400,
  ],
  ['chunks whose lines end without CR', post(), JSON_TYPE + CHUNKED, `${SIZE}\n${BODY}\n0\n\n`, 400],
  [
    'a length behind the last chunk',
    post(),
    JSON_TYPE + CHUNKED,
    `${SIZE}\r\n${BODY}\r\n0\r\nContent-Length: 3\r\n\r\n`,
    400,
  ],
  [
    '40 kB behind the last chunk',
    post(),
    JSON_TYPE + CHUNKED,
    `${SIZE}\r\n${BODY}\r\n0\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
    431,
  ],
  ['a fragment', get('/v1/admin/session#a'), LAST, '', 400],
  ['a broken escape', get('/v1/admin/apps/%zz'), LAST, '', 400],
  ['two hosts', get('/v1/admin/session'), `Host: b\r\n${LAST}`, '', 400],
  ['two credentials', get('/v1/admin/session'), `Authorization: Bearer b\r\n${LAST}`, '', 400],
  ['a target that is a path of another', get('/v1/x/../admin/session'), LAST, '', 404],
  ['two slashes', get('//v1/admin/session'), LAST, '', 404],
  ['another scheme', get('ftp://a/v1/admin/session'), LAST, '', 404],
  ['a host alone', get('http://a'), LAST, '', 404],
  ['a parameter of a path', get('/v1/admin/session;a=b'), LAST, '', 404],
  ['a thousand copies of a parameter', get(`/v1/admin/audit-events?${many(1_000, () => 'limit=1&')}`), LAST, '', 400],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\n', LAST, '', 404],
];

describe('a malformed message', () => {
  it.each(REFUSED)(
    '%s → refused once, one log line, nothing created, connection closed',
    async (_name, start, lines, rest, status) => {
      const before = await apps();
      const { text, end } = await exchange(`${start}${proof}${lines}\r\n${rest}`);
      expect(answersIn(text)).toEqual([{ status, error: expect.objectContaining({ message: expect.any(String) }) }]);
      expect(end).toBe('closed');
      expect(linesOfRefusals()).toEqual([expect.objectContaining({ level: 'warn', status })]);
      expect(await apps()).toBe(before);
    },
  );
});

const SERVED: readonly (readonly [name: string, bytes: () => string, statuses: number[]])[] = [
  ['HTTP/1.0', () => `${get('/v1/admin/session', 'HTTP/1.0')}${proof}\r\n`, [200]],
  ['RFC 9112 3.2.2: the absolute form', () => `${get('http://b.example/v1/admin/session')}${proof}${LAST}\r\n`, [200]],
  ['a target of 30 kB', () => `${get(`/v1/admin/session?a=${'b'.repeat(30_000)}`)}${proof}${LAST}\r\n`, [200]],
  [
    'a thousand parameters',
    () => `${get(`/v1/admin/session?${many(1_000, (at) => `p${at}&`)}`)}${proof}${LAST}\r\n`,
    [200],
  ],
  ['empty lines before it', () => `\r\n\r\n${get('/v1/admin/session')}${proof}${LAST}\r\n`, [200]],
  [
    'an upgrade nobody makes',
    () => `${get('/v1/admin/session')}${proof}Upgrade: h2c\r\nConnection: upgrade, close\r\n\r\n`,
    [200],
  ],
  [
    'RFC 9110 10.1.1: an expectation',
    () => `${post()}${proof}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n${LAST}\r\n${BODY}`,
    [100, 201],
  ],
  [
    'an expectation without a credential',
    () =>
      `${post()}Host: a\r\n${JSON_TYPE}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n${LAST}\r\n${BODY}`,
    [100, 401],
  ],
  ['chunks', () => `${post()}${proof}${JSON_TYPE}${CHUNKED}${LAST}\r\n${SIZE}\r\n${BODY}\r\n0\r\n\r\n`, [201]],
  [
    'three at once',
    () =>
      `${get('/v1/admin/session')}${proof}\r\n${get('/v1/admin/none')}${proof}\r\n${get('/v1/healthz')}${proof}${LAST}\r\n`,
    [200, 404, 200],
  ],
  [
    'one behind a body that is not read',
    () =>
      `POST /v1/admin/none HTTP/1.1\r\n${proof}Content-Length: 5\r\n\r\nGET /${get('/v1/healthz')}${proof}${LAST}\r\n`,
    [404, 200],
  ],
  ['no HTTP behind it', () => `${get('/v1/admin/session')}${proof}\r\nno HTTP\r\n\r\n`, [200, 400]],
  ['more than its length', () => `${post()}${proof}${JSON_TYPE}Content-Length: 10\r\n\r\n${BODY}`, [400, 400]],
  ['a body without a length', () => `${post('HTTP/1.0')}${proof}${JSON_TYPE}\r\n${BODY}`, [400]],
];

describe('an unusual but valid message', () => {
  it.each(SERVED)('%s → answered, each request in turn, and closed', async (_name, bytes, statuses) => {
    const answer = await exchange(bytes());
    expect([statusesOf(answer), answer.end]).toEqual([statuses, 'closed']);
    expect(linesOfRefusals().map(({ status }) => status)).toEqual(statuses.filter((status) => status >= 400));
  });

  it.each([
    ['half a head', () => `${get('/v1/admin/session')}Host: a\r\nAuth`],
    ['half a body', () => `${post()}${proof}${JSON_TYPE}Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 20)}`],
    ['half a chunk', () => `${post()}${proof}${JSON_TYPE}${CHUNKED}\r\nFFFFF\r\n${BODY}`],
  ])('%s, and the client stops sending → refused once, one log line', async (_name, bytes) => {
    const { socket, answer } = openRaw(world.baseUrl, bytes());
    socket.once('connect', () => socket.end());
    expect(statusesOf(await ended(answer))).toEqual([400]);
    expect(linesOfRefusals()).toHaveLength(1);
  });
});

/** Sends a message; after the time for the service, the client sends nothing more. */
async function sendAndStop(bytes: string): Promise<RawAnswer> {
  const { socket, text, answer } = openRaw(world.baseUrl, bytes);
  await Promise.race([answer, eventually(() => text() !== '', { withinMs: USUAL_MS }).catch(() => undefined)]);
  socket.end();
  return ended(answer);
}

describe(`${RUNS} randomly changed messages, seed ${SEED}`, () => {
  it(
    'refused or served, never 5xx; each connection ends',
    async () => {
      const genuine = [
        `${get('/v1/admin/apps?limit=5')}${proof}\r\n`,
        `${post()}${proof}${JSON_TYPE}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
        `${post()}${proof}${JSON_TYPE}${CHUNKED}\r\n${SIZE}\r\n${BODY}\r\n0\r\n\r\n`,
        `POST /v1/auth/sign-in/email HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nemail=a@b`,
      ];
      for (let index = 0; index < RUNS; index++) {
        const chance = new Chance(Math.imul(SEED, 0x9e3779b1) + index);
        const bytes = changedMessage(chance.of(genuine), chance);
        const again = `FUZZ_SEED=${SEED}, #${index}: ${JSON.stringify(bytes.slice(0, 2_000))}`;
        const { text } = await sendAndStop(bytes).catch((error: unknown) => {
          throw new Error(`${error}; ${again}`);
        });
        const wrong =
          text === '' ? [] : answersIn(text).filter((one) => !(one.status < 400 || (one.status < 500 && one.error)));
        if (wrong.length > 0) throw new Error(`${JSON.stringify(wrong)}; ${again}`);
      }
      expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
      expect((await world.as(undefined).get('/v1/readyz')).status).toBe(200);
    },
    30_000 + RUNS * 200,
  );
});
