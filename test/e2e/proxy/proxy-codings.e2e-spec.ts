import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointClient } from '../../support/proxy/endpoint-client.js';
import { readParts } from '../../support/proxy/forms.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const MIB = 1024 * 1024;
const LIMIT_BYTES = 20 * MIB;
/** Spaces and escapes that a decoded and written text would not keep. */
const BODY = '{ "model" : "gpt-4.1","input":"Gr\\u00fc\\u00dfe, \u4e16\u754c" }';
const PATH = 'v1/responses';
const INVALID = [400, 'invalid_request'];
const TOO_LARGE = [413, 'payload_too_large'];

/** At its best quality 20 MiB take half a minute. */
const brotli = (body: Buffer | string) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const CODINGS = [
  ['gzip', 'gzip', gzipSync],
  ['GZIP', 'GZIP', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its wrapper', 'deflate', deflateRawSync],
  ['br', 'br', brotli],
  ['zstd', 'zstd', zstdCompressSync],
] as const;

let world: World;
let client: ProxyClient;
let listed: ProxyClient;
let endpoint: EndpointClient;

beforeAll(async () => {
  world = await startWorld();
  client = await ProxyClient.create(world);
  listed = await ProxyClient.create(world, { policy: { allowed_models: ['gpt-4.1-mini'] } });
  endpoint = await EndpointClient.create(world);
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

const send = (body: Buffer, coding: string, to = client) =>
  to.call(PATH, { body, headers: ['content-encoding', coding] });

/** The body that the provider received, and its declared length. */
const received = () =>
  world.upstream.requests.map((request) => [
    request.body.toString(),
    request.header('content-encoding'),
    Number(request.header('content-length')) === request.body.length,
  ]);

/** JSON that does not compress, to this size. */
function incompressible(bytes: number): Buffer {
  let state = 1;
  const text = Buffer.alloc(bytes, 0x20);
  text.write('{"model":"gpt-4.1","input":"');
  for (let at = 28; at < bytes - 2; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text[at] = 0x30 + ((state >>> 16) % 10);
  }
  text.write('"}', bytes - 2);
  return text;
}

describe('a body with a content coding', () => {
  it.each(CODINGS)('%s → the provider gets the decoded bytes, without a coding', async (_name, coding, encode) => {
    expect((await send(encode(BODY), coding)).status).toBe(200);
    expect(received()).toEqual([[BODY, undefined, true]]);
  });

  it('chunked → the same', async () => {
    const headers = ['content-encoding', 'gzip'];
    expect((await client.call(PATH, { body: gzipSync(BODY), headers, chunked: true })).status).toBe(200);
    expect(received()).toEqual([[BODY, undefined, true]]);
  });

  it('of a named endpoint → the same', async () => {
    const answer = await endpoint.call({ body: gzipSync('{"input":"Hi"}'), headers: ['content-encoding', 'gzip'] });
    expect(answer.status).toBe(200);
    expect(received()).toEqual([['{"input":"Hi","model":"gpt-4.1"}', undefined, true]]);
  });

  it('a form → its parts unchanged', async () => {
    const form = [
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\nRIFF\r\n--b--\r\n',
    ].join('');
    const headers = ['content-encoding', 'br', 'content-type', 'multipart/form-data; boundary=b'];
    const answer = await client.call('v1/audio/transcriptions', { body: brotli(form), headers });
    expect(answer.status).toBe(200);
    expect(await readParts(world.upstream.requests[0])).toEqual([
      { name: 'model', value: 'whisper-1' },
      { name: 'file', value: Buffer.from('RIFF'), type: 'audio/wav', fileName: 'a.wav' },
    ]);
  });

  it.each(CODINGS)('%s with a model that is not allowed → checked after decoding', async (_name, coding, encode) => {
    expect(refusalOf(await send(encode(BODY), coding, listed))).toEqual([403, 'model_not_allowed']);
    expect(received()).toEqual([]);
  });

  it('identity → sent without the header', async () => {
    expect((await send(Buffer.from(BODY), 'identity')).status).toBe(200);
    expect(received()).toEqual([[BODY, undefined, true]]);
  });

  it('identity although the body is compressed → invalid JSON', async () => {
    expect(refusalOf(await send(gzipSync(BODY), 'identity'))).toEqual(INVALID);
  });
});

describe('encoded bodies that are refused', () => {
  const others = CODINGS.filter(([name]) => name !== 'GZIP');

  it.each(others)('%s that is truncated → 400', async (_name, coding, encode) => {
    const coded = encode(BODY);
    expect(refusalOf(await send(coded.subarray(0, coded.length - 3), coding))).toEqual(INVALID);
  });

  it.each(others)('%s with trailing bytes → 400', async (_name, coding, encode) => {
    expect(refusalOf(await send(Buffer.concat([encode(BODY), Buffer.from('more')]), coding))).toEqual(INVALID);
  });

  it.each(others.map(([name, coding]) => [name, coding]))('%s on an unencoded body → 400', async (_name, coding) => {
    expect(refusalOf(await send(Buffer.from(BODY), coding))).toEqual(INVALID);
  });

  it('empty → 400, as an empty body', async () => {
    expect(refusalOf(await send(Buffer.alloc(0), 'gzip'))).toEqual(INVALID);
  });

  it('20 MiB and a byte, sent in less → 413', async () => {
    const coded = zstdCompressSync(incompressible(LIMIT_BYTES + 1));
    expect(coded.length).toBeLessThan(LIMIT_BYTES);
    expect(refusalOf(await send(coded, 'zstd'))).toEqual(TOO_LARGE);
  });

  it.each(others)('%s that grows more than a hundredfold → 413', async (_name, coding, encode) => {
    const body = Buffer.concat([
      Buffer.from('{"model":"gpt-4.1","input":"'),
      Buffer.alloc(MIB, 0x61),
      Buffer.from('"}'),
    ]);
    const coded = encode(body);
    expect(coded.length * 100).toBeLessThan(body.length);
    expect(refusalOf(await send(coded, coding))).toEqual(TOO_LARGE);
  });

  it.each(['identity, gzip', 'gzip, gzip', '', 'compress', 'x-gzip', 'gzip;q=1', 'gzip,'])(
    'coding "%s" → 415 that names the accepted codings',
    async (coding) => {
      const answer = await send(gzipSync(BODY), coding);
      expect(refusalOf(answer)).toEqual([415, 'invalid_request']);
      expect(answer.headers['accept-encoding']).toBe('gzip, deflate, br, zstd, identity');
    },
  );

  it('a repeated header → 415', async () => {
    const headers = ['content-encoding', 'gzip', 'content-encoding', 'gzip'];
    expect(refusalOf(await client.call(PATH, { body: gzipSync(BODY), headers }))).toEqual([415, 'invalid_request']);
  });

  afterEach(() => expect(received()).toEqual([]));
});

it('the largest body that may be sent → reaches the provider decoded', async () => {
  const body = incompressible(LIMIT_BYTES);
  expect((await send(zstdCompressSync(body), 'zstd')).status).toBe(200);
  expect(world.upstream.requests[0]?.body.equals(body)).toBe(true);
});

it('a management route → accepts no coding', async () => {
  const body = gzipSync('{"name":"A"}');
  const { status, headers } = await fetch(`${world.baseUrl}/v1/admin/apps`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.managementKey}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body,
  });
  expect([status, headers.get('accept-encoding')]).toEqual([415, 'identity']);
});
