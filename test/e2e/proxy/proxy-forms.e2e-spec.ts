import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readParts } from '../../support/proxy/forms.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const OPENAI_PATH = 'v1/audio/transcriptions';
const GROQ_PATH = 'openai/v1/audio/transcriptions';
const BOUNDARY = 'form-7Q';
const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
/** Bytes that no text survives: a boundary look-alike, line ends of all kinds, NUL, bytes that are not UTF-8. */
const AUDIO = Buffer.from('RIFF\0\r\n--form-7\r\n--form\n\xff\xfe--form-7q\r\n', 'latin1');
const FILE_HEAD = 'Content-Disposition: form-data; name="file"; filename="a b é.wav"\r\nContent-Type: audio/wav';

let world: World;
let openai: ProxyClient;
let groq: ProxyClient;
let xai: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  openai = await ProxyClient.create(world, {
    policy: { allowed_models: ['fast', 'whisper-1'] },
    rewrites: { fast: 'gpt-4o-mini-transcribe' },
  });
  groq = await ProxyClient.create(world, { provider: { type: 'groq' } });
  xai = await ProxyClient.create(world, { provider: { type: 'xai' } });
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

interface Part {
  readonly head: string;
  readonly content: string | Buffer;
}

const field = (name: string, content: string): Part => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content,
});
const file: Part = { head: FILE_HEAD, content: AUDIO };

function formOf(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [`--${BOUNDARY}\r\n${head}\r\n\r\n`, content, '\r\n']);
  return Buffer.concat([...pieces, end].map((piece) => Buffer.from(piece)));
}

function send(client: ProxyClient, path: string, body: Buffer, contentType = FORM_TYPE) {
  return client.call(path, { body, headers: ['content-type', contentType] });
}

/** The body that the provider received, read by an independent parser. */
const received = () => readParts(world.upstream.requests[0]);

const AUDIO_RECEIVED = { name: 'file', value: AUDIO, type: 'audio/wav', fileName: 'a b é.wav' };

describe('transcription forms', () => {
  it.each([
    ['boundary bare', FORM_TYPE],
    ['boundary quoted', `multipart/form-data; boundary="${BOUNDARY}"`],
    ['type in capitals', `Multipart/Form-Data; boundary=${BOUNDARY}`],
  ])('nothing to change, %s → the same bytes and the same content type', async (_name, contentType) => {
    const body = formOf([file, field('model', 'whisper-1'), field('language', 'de')]);
    expect((await send(openai, OPENAI_PATH, body, contentType)).status).toBe(200);
    const [request] = world.upstream.requests;
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.header('content-type')).toBe(contentType);
  });

  it('a model that is rewritten → a new boundary, every other part unchanged', async () => {
    const parts = [
      field('prompt', 'ä "b"'),
      file,
      field('model', 'fast'),
      field('include[]', 'x'),
      field('include[]', 'y'),
    ];
    await send(openai, OPENAI_PATH, formOf(parts));
    expect(await received()).toEqual([
      { name: 'prompt', value: 'ä "b"' },
      AUDIO_RECEIVED,
      { name: 'model', value: 'gpt-4o-mini-transcribe' },
      { name: 'include[]', value: 'x' },
      { name: 'include[]', value: 'y' },
    ]);
    expect(world.upstream.requests[0]?.header('content-type')).not.toContain(BOUNDARY);
  });

  const VERBOSE = { name: 'response_format', value: 'verbose_json' };
  const WHISPER = { name: 'model', value: 'whisper-large-v3' };
  it.each([
    ['no format', [], [VERBOSE, AUDIO_RECEIVED, WHISPER]],
    ['json', [field('response_format', 'json')], [AUDIO_RECEIVED, WHISPER, VERBOSE]],
  ])('Groq-type, %s → changed to verbose_json, the only format that can be priced', async (_name, format, expected) => {
    await send(groq, GROQ_PATH, formOf([file, field('model', 'whisper-large-v3'), ...format]));
    expect(await received()).toEqual(expected);
  });

  it('Groq-type, verbose_json → the same bytes', async () => {
    const body = formOf([file, field('model', 'whisper-large-v3'), field('response_format', 'verbose_json')]);
    await send(groq, GROQ_PATH, body);
    expect(world.upstream.requests[0]?.body.equals(body)).toBe(true);
  });

  it('xAI-type, which always reports a duration → any format is accepted, and the path is v1/stt', async () => {
    const body = formOf([file, field('model', 'grok-transcribe'), field('response_format', 'text')]);
    await send(xai, 'v1/stt', body);
    expect(world.upstream.requests[0]).toMatchObject({ path: '/v1/stt' });
    expect(world.upstream.requests[0]?.body.equals(body)).toBe(true);
  });

  it('a translation → checked like a transcription', async () => {
    const srt = formOf([file, field('model', 'whisper-1'), field('response_format', 'srt')]);
    expect(refusalOf(await send(openai, 'v1/audio/translations', srt))).toEqual([400, 'invalid_request']);
  });

  it('a model that is not on the list → 403', async () => {
    const answer = await send(openai, OPENAI_PATH, formOf([file, field('model', 'gpt-4o-transcribe')]));
    expect(refusalOf(answer)).toEqual([403, 'model_not_allowed']);
  });
});

const MODEL = field('model', 'whisper-1');

describe('ambiguous or invalid forms', () => {
  const whole = formOf([file, MODEL]);
  const bareLines = Buffer.from(formOf([MODEL]).toString().replaceAll('\r\n', '\n'));

  it.each<[string, Buffer, string?]>([
    ['no boundary in the header', whole, 'multipart/form-data'],
    ['an empty boundary', whole, 'multipart/form-data; boundary='],
    ['two boundaries', whole, `multipart/form-data; boundary=a; boundary=${BOUNDARY}`],
    ['another boundary', whole, 'multipart/form-data; boundary=other'],
    ['a type that only begins alike', whole, `multipart/form-data2; boundary=${BOUNDARY}`],
    ['an extended boundary', whole, `multipart/form-data; boundary*=us-ascii''${BOUNDARY}`],
    ['nothing', Buffer.alloc(0)],
    ['no part', formOf([])],
    ['cut before the end', whole.subarray(0, -6)],
    ['cut inside a part', whole.subarray(0, 100)],
    ['cut inside a head', whole.subarray(0, 40)],
    ['no closing boundary', formOf([file, MODEL], '')],
    ['text before the first boundary', Buffer.concat([Buffer.from('preamble\r\n'), whole])],
    ['text behind the last boundary', Buffer.concat([whole, Buffer.from('--form-7Q\r\n')])],
    ['bare line feeds', bareLines],
    ['no model', formOf([file])],
    ['an empty model', formOf([file, field('model', '')])],
    ['the model twice', formOf([file, MODEL, MODEL])],
    ['the model twice, in other case', formOf([file, MODEL, field('Model', 'whisper-1')])],
    ['the model in other case', formOf([file, field('MODEL', 'whisper-1')])],
    ['the model as a file', formOf([file, { head: `${MODEL.head}; filename="m"`, content: 'whisper-1' }])],
    ['the format twice', formOf([file, MODEL, field('response_format', 'json'), field('response_format', 'srt')])],
    ['a part with two dispositions', formOf([file, { head: `${MODEL.head}\r\n${MODEL.head}`, content: 'whisper-1' }])],
    ['a name given twice', formOf([file, { head: `${MODEL.head}; name="x"`, content: 'whisper-1' }])],
    ['an extended name', formOf([file, { head: "Content-Disposition: form-data; name*=utf-8''model", content: 'a' }])],
    ['an encoded name', formOf([file, field('%6dodel', 'gpt-4o-transcribe'), MODEL])],
    [
      'an encoded part',
      formOf([file, { head: `${MODEL.head}\r\nContent-Transfer-Encoding: base64`, content: 'd2g=' }]),
    ],
    ['a charset', formOf([file, { head: `${MODEL.head}\r\nContent-Type: text/plain; charset=utf-16`, content: 'w' }])],
    [
      'a folded header',
      formOf([file, { head: 'Content-Disposition: form-data;\r\n name="model"', content: 'whisper-1' }]),
    ],
    ['65 parts', formOf([file, MODEL, ...Array.from({ length: 63 }, (_, at) => field(`f${at}`, ''))])],
    ['17 files', formOf([MODEL, ...Array.from({ length: 17 }, () => file)])],
    [
      'a part with a 9 KiB head',
      formOf([file, MODEL, { head: `${field('x', '').head}\r\nx: ${'y'.repeat(9000)}`, content: '' }]),
    ],
    ['a format that cannot be priced', formOf([file, MODEL, field('response_format', 'srt')])],
    [
      'a format that is not UTF-8',
      formOf([file, MODEL, { ...field('response_format', ''), content: Buffer.from([0xff]) }]),
    ],
  ])('%s → 400, nothing is sent', async (_name, body, contentType = FORM_TYPE) => {
    expect(refusalOf(await send(openai, OPENAI_PATH, body, contentType))).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each(['application/json', 'text/plain', 'multipart/mixed; boundary=form-7Q'])(
    'a whole form declared as %s → read as JSON, so 400',
    async (contentType) => {
      expect(refusalOf(await send(openai, OPENAI_PATH, whole, contentType))).toEqual([400, 'invalid_request']);
    },
  );

  it.each([
    ['OpenAI-type', () => openai, OPENAI_PATH, 'whisper-1'],
    ['Groq-type', () => groq, GROQ_PATH, 'whisper-large-v3'],
  ])('%s: a transcription as JSON → 400', async (_name, client, path, model) => {
    expect(refusalOf(await client().call(path, { body: { model } }))).toEqual([400, 'invalid_request']);
  });
});

describe('forms and JSON, each on its own paths', () => {
  const form = formOf([field('model', 'gpt-4.1'), field('input', 'a')]);
  const JSON_PATHS = ['v1/responses', 'v1/chat/completions', 'v1/messages', 'v1/embeddings', 'v1/images/generations'];
  const invalid = [400, 'invalid_request'];
  let any: ProxyClient;
  let listed: ProxyClient;

  beforeAll(async () => {
    any = await ProxyClient.create(world);
    listed = await ProxyClient.create(world, { policy: { allowed_paths: ['v1/uploads', 'v1/images/variations'] } });
  });

  it.each([...JSON_PATHS, 'v1/audio/speech', 'v1/moderations', 'v1/responses/input_tokens'])(
    'a form on %s → 400, nothing is sent',
    async (path) => {
      expect(refusalOf(await send(any, path, form))).toEqual(invalid);
      expect(world.upstream.requests).toHaveLength(0);
    },
  );

  it.each(['v1/audio/transcriptions', 'v1/audio/translations', 'v1/stt'])('JSON on %s → 400', async (path) => {
    for (const client of [any, xai]) {
      expect(refusalOf(await client.call(path, { body: { model: 'whisper-1' } }))).toEqual(invalid);
    }
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('JSON on a listed path for forms → 400', async () => {
    expect(refusalOf(await listed.call('v1/images/variations', { body: { model: 'gpt-4.1' } }))).toEqual(invalid);
  });

  it.each(['v1/images/edits'])('%s, which takes both → sent', async (path) => {
    expect((await send(any, path, form)).status).toBe(200);
    expect((await any.call(path, { body: { model: 'gpt-4.1' } })).status).toBe(200);
  });

  it('a listed unknown path → accepts both', async () => {
    expect((await send(listed, 'v1/uploads', form)).status).toBe(200);
    expect((await listed.call('v1/uploads', { body: { model: 'gpt-4.1' } })).status).toBe(200);
  });
});
