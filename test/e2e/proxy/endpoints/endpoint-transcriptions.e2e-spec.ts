import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { FORM_HEADERS, type FormPiece, field, file, formOf, readParts } from '../../../support/proxy/forms.js';
import { type Answer, documentedRefusals, refusalOf } from '../../../support/proxy/proxy-client.js';
import { type ScriptedUpstream, startUpstream } from '../../../support/proxy/upstream.js';
import { event, hold, json, resetBeforeAnswer, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const MIB = 1024 * 1024;
const BAD_REQUEST = [400, 'invalid_request'];
/** Bytes that no text survives: boundary look-alikes, line ends of all kinds, NUL, bytes that are not UTF-8. */
const AUDIO = Buffer.from('RIFF\0\r\n--form-7\r\n--form\n\xff\xfe--form-7q\r\n', 'latin1');
const RECORDING = file('file', 'a b é.wav', 'audio/wav', AUDIO);
const RECORDED = { name: 'file', value: AUDIO, type: 'audio/wav', fileName: 'a b é.wav' };
/** 90 seconds. */
const DURATION = { text: 'Hello.', usage: { type: 'duration', seconds: 90 } };

let world: World;
let documented: (answer: Answer) => void;
let openai: EndpointClient;
let xai: EndpointClient;
let fallbacks = 0;
/** Upstreams of the fallbacks of one test. */
const seconds: ScriptedUpstream[] = [];

beforeAll(async () => {
  world = await startWorld();
  documented = documentedRefusals(world, '/v1/apps/a/endpoints/b');
  openai = await EndpointClient.create(world, { endpoint: { api_style: 'transcription', model: 'whisper-1' } });
  xai = await EndpointClient.create(world, {
    provider: { type: 'xai' },
    endpoint: { api_style: 'transcription', model: 'grok-transcribe' },
  });
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, DURATION));
});

afterEach(() => Promise.all(seconds.splice(0).map((second) => second.close())));

afterAll(() => world.stop());

/** The two families, with their upstream path and the model of their endpoint. */
const FAMILIES: [string, () => EndpointClient, string, string][] = [
  ['first family', () => openai, '/v1/audio/transcriptions', 'whisper-1'],
  ['second family', () => xai, '/v1/stt', 'grok-transcribe'],
];

const send = (client: EndpointClient, ...pieces: FormPiece[]) =>
  client.call({ headers: FORM_HEADERS, body: formOf(...pieces) });

async function expectRefused(call: Promise<Answer>, refusal: unknown): Promise<void> {
  const answer = await call;
  expect(refusalOf(answer)).toEqual(refusal);
  documented(answer);
  expect(world.upstream.requests).toHaveLength(0);
}

/** An endpoint of the first family whose fallback is of the second, or the other way round, each with its upstream. */
async function chained(primary: 'openai' | 'xai'): Promise<{ client: EndpointClient; second: ScriptedUpstream }> {
  const second = await startUpstream({ script: json(200, DURATION) });
  const type = primary === 'openai' ? 'xai' : 'openai';
  seconds.push(second);
  const { slug } = await world.provider({ type, slug: `fallback-${++fallbacks}`, baseUrl: `${second.url}/` });
  const model = { openai: 'whisper-1', xai: 'grok-transcribe' };
  const endpoint = {
    api_style: 'transcription',
    model: model[primary],
    fallback: [{ provider: slug, model: model[type] }],
  };
  return { client: await EndpointClient.create(world, { provider: { type: primary }, endpoint }), second };
}

describe.each(FAMILIES)('transcription endpoint, %s', (_name, client, path, model) => {
  it('a form without a model → the family’s path, the model added, its own boundary, the answer relayed', async () => {
    const answer = await send(client(), RECORDING);
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([200, DURATION]);
    const [request] = world.upstream.requests;
    expect(request).toMatchObject({ method: 'POST', path });
    expect(request?.header('content-type')).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.header('content-type')).not.toContain('form-7Q');
    expect(request?.header('content-length')).toBe(String(request?.body.length));
    expect(await readParts(request)).toEqual([{ name: 'model', value: model }, RECORDED]);
  });

  it('a model from the client → overwritten in place', async () => {
    await send(client(), field('language', 'de'), field('model', 'gpt-4o-transcribe'), RECORDING);
    expect(await readParts(world.upstream.requests[0])).toEqual([
      { name: 'language', value: 'de' },
      { name: 'model', value: model },
      RECORDED,
    ]);
  });

  it('every other field → unchanged: order, names, repeated and empty fields, any text, further files', async () => {
    const others: [string, string][] = [
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['prompt', 'ä "b"\r\n--form\nline'],
      ['temperature', '0.0'],
      ['empty', ''],
      ['é', '東京'],
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ];
    const extra = file('extra', 'notes.txt', 'text/plain', 'ü');
    await send(client(), ...others.map(([name, value]) => field(name, value)), RECORDING, extra);
    expect(await readParts(world.upstream.requests[0])).toEqual([
      { name: 'model', value: model },
      ...others.map(([name, value]) => ({ name, value })),
      RECORDED,
      { name: 'extra', value: Buffer.from('ü'), type: 'text/plain', fileName: 'notes.txt' },
    ]);
  });

  it.each<[string, FormPiece[]]>([
    ['no file', [field('language', 'de')]],
    ['no part at all', []],
    ['a file of another name', [file('audio', 'a.wav', 'audio/wav', AUDIO)]],
    ['the file as a plain field', [field('file', 'RIFF')]],
    ['the model twice', [RECORDING, field('model', 'a'), field('model', 'b')]],
    ['the model as a file', [RECORDING, file('model', 'm', 'text/plain', 'whisper-1')]],
  ])('%s → 400', (_case, pieces) => expectRefused(send(client(), ...pieces), BAD_REQUEST));

  it.each<[string, string[], string | Buffer]>([
    ['JSON', ['content-type', 'application/json'], '{"file":"data"}'],
    ['a form without a content type', [], formOf(RECORDING)],
    ['a form declared as JSON', ['content-type', 'application/json'], formOf(RECORDING)],
    ['another multipart type', ['content-type', 'multipart/mixed; boundary=form-7Q'], formOf(RECORDING)],
    ['bare audio', ['content-type', 'audio/wav'], AUDIO],
    ['no boundary', ['content-type', 'multipart/form-data'], formOf(RECORDING)],
    ['a form cut short', FORM_HEADERS, formOf(RECORDING).subarray(0, -6)],
    ['nothing', FORM_HEADERS, ''],
  ])('%s → 400', (_case, headers, body) => expectRefused(client().call({ headers, body }), BAD_REQUEST));

  it('20 MiB → the file arrives byte for byte; one byte more → 413', async () => {
    const room = 20 * MIB - formOf(file('file', 'a.wav', 'audio/wav', '')).length;
    const audio = randomBytes(room);
    const body = formOf(file('file', 'a.wav', 'audio/wav', audio));
    expect(body.length).toBe(20 * MIB);
    expect((await client().call({ headers: FORM_HEADERS, body })).status).toBe(200);
    const [, received] = await readParts(world.upstream.requests[0]);
    expect(hashOf(received?.value ?? '')).toBe(hashOf(audio));
    world.upstream.forget();
    const larger = formOf(file('file', 'a.wav', 'audio/wav', Buffer.concat([audio, Buffer.from('x')])));
    for (const chunked of [false, true]) {
      await expectRefused(client().call({ headers: FORM_HEADERS, body: larger, chunked }), [413, 'payload_too_large']);
    }
  });
});

describe('formats that can be priced', () => {
  it.each(['text', 'srt', 'vtt', 'JSON', '', 'verbose_json '])('first family, response_format %j → 400', (format) =>
    expectRefused(send(openai, RECORDING, field('response_format', format)), BAD_REQUEST),
  );

  it.each(['json', 'verbose_json', 'diarized_json'])(
    'first family, response_format %s → sent unchanged',
    async (format) => {
      expect((await send(openai, RECORDING, field('response_format', format))).status).toBe(200);
      expect(await readParts(world.upstream.requests[0])).toContainEqual({ name: 'response_format', value: format });
    },
  );

  it.each(['text', 'srt', 'json'])(
    'second family, which always reports a duration, response_format %s → sent',
    async (format) => {
      expect((await send(xai, RECORDING, field('response_format', format))).status).toBe(200);
      expect(await readParts(world.upstream.requests[0])).toContainEqual({ name: 'response_format', value: format });
    },
  );
});

describe('event of a transcription', () => {
  it.each<[string, 'openai' | 'xai', string, string, object, number]>([
    ['seconds in the usage', 'openai', 'whisper-1', 'v1/audio/transcriptions', DURATION, 0.009],
    [
      'a duration beside the text',
      'openai',
      'whisper-1',
      'v1/audio/transcriptions',
      { text: 'x', duration: 30.5 },
      0.00305,
    ],
    ['a duration of the second family', 'xai', 'grok-transcribe', 'v1/stt', { text: 'x', duration: 90 }, 0.0025],
    [
      'tokens',
      'openai',
      'gpt-4o-mini-transcribe',
      'v1/audio/transcriptions',
      { text: 'x', usage: { type: 'tokens', input_tokens: 1000, output_tokens: 100 } },
      0.00175,
    ],
  ])('%s → its cost', async (_name, type, model, path, answer, usd) => {
    const endpoint = { api_style: 'transcription', model };
    const client = await EndpointClient.create(world, { provider: { type }, endpoint });
    world.upstream.script(json(200, answer));
    expect((await send(client, RECORDING)).status).toBe(200);
    const { slug } = client.proxy;
    expect(await client.proxy.events()).toMatchObject([
      { endpoint_slug: 'answer', provider: type, provider_slug: slug, model, route: `${slug}/${path}` },
    ]);
    expect(await client.proxy.events()).toMatchObject([{ cost_usd: usd, cost_source: 'computed', status: 'ok' }]);
  });

  it('stream → relayed as it arrives, priced by its last event', async () => {
    const endpoint = { api_style: 'transcription', model: 'gpt-4o-mini-transcribe' };
    const client = await EndpointClient.create(world, { endpoint });
    const delta = event({ type: 'transcript.text.delta', delta: 'Hel' });
    const done = event({
      type: 'transcript.text.done',
      text: 'Hello',
      usage: { type: 'tokens', input_tokens: 1000, output_tokens: 100 },
    });
    const stream = hold(delta);
    world.upstream.script(stream.script);
    const body = formOf(RECORDING, field('stream', 'true'));
    const head = await client.open({ headers: FORM_HEADERS, body }).head;
    expect(head.headers['content-type']).toBe('text/event-stream');
    const first = await new Promise((resolve) => head.once('data', resolve));
    expect([String(first), stream.open()]).toEqual([delta, 1]);
    expect(await readParts(world.upstream.requests[0])).toContainEqual({ name: 'stream', value: 'true' });
    stream.release(done);
    const rest: Buffer[] = [];
    for await (const chunk of head) rest.push(chunk);
    expect(Buffer.concat(rest).toString()).toBe(done);
    expect(await client.proxy.events()).toMatchObject([{ cost_usd: 0.00175, cost_source: 'computed' }]);
  });
});

describe('fallback of a transcription', () => {
  it.each([
    ['first', 'openai', '/v1/stt', 'grok-transcribe', 0.0025],
    ['second', 'xai', '/v1/audio/transcriptions', 'whisper-1', 0.009],
  ] as const)(
    '%s family fails → the other gets the same file with its own path and model',
    async (_, type, path, model, usd) => {
      const { client, second } = await chained(type);
      world.upstream.script(type === 'openai' ? json(503, {}) : resetBeforeAnswer());
      const answer = await send(client, field('model', 'x'), field('language', 'de'), RECORDING);
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([200, DURATION]);
      expect(second.requests[0]?.path).toBe(path);
      const parts = [{ name: 'model', value: model }, { name: 'language', value: 'de' }, RECORDED];
      expect(await readParts(second.requests[0])).toEqual(parts);
      const [served] = await client.proxy.events();
      // The result of a target that cut its connection is unknown: it may charge for the recording.
      const cost_source = type === 'openai' ? 'computed' : 'unresolved';
      expect(served).toMatchObject({ model, cost_usd: usd, cost_source, status: 'ok' });
      expect(served.attempts).toMatchObject([
        { model: type === 'openai' ? 'whisper-1' : 'grok-transcribe' },
        { model, status: 200 },
      ]);
    },
  );

  it('a stream that fails before its first content → the other target serves', async () => {
    const { client } = await chained('openai');
    world.upstream.script(sse([event({ type: 'error', error: { code: 'server_error' } })]));
    const answer = await send(client, RECORDING, field('stream', 'true'));
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([200, DURATION]);
  });

  it('a format that cannot be priced for the fallback → skipped, the first target’s own error is relayed', async () => {
    const { client, second } = await chained('xai');
    world.upstream.script(json(503, { error: 'its own' }));
    const answer = await send(client, RECORDING, field('response_format', 'srt'));
    expect([answer.status, answer.body.toString()]).toEqual([503, '{"error":"its own"}']);
    expect(second.requests).toHaveLength(0);
    expect(await client.proxy.events()).toMatchObject([{ provider: 'xai', status: 'provider_error', attempts: null }]);
  });

  it('20 MiB → the fallback gets every byte too', async () => {
    const { client, second } = await chained('openai');
    world.upstream.script(json(500, {}));
    const audio = randomBytes(19 * MIB);
    expect((await send(client, file('file', 'a.wav', 'audio/wav', audio))).status).toBe(200);
    const [, received] = await readParts(second.requests[0]);
    expect(hashOf(received?.value ?? '')).toBe(hashOf(audio));
  });
});

function hashOf(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
