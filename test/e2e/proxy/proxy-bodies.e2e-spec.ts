import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Answer, ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const CAP = 100;
const LIMIT_BYTES = 20 * 1024 * 1024;
const PATHS = {
  responses: 'v1/responses',
  chat: 'v1/chat/completions',
  groq: 'openai/v1/chat/completions',
  anthropic: 'v1/messages',
  gemini: 'v1beta/models/gemini-2.5-flash:generateContent',
} as const;
type Style = keyof typeof PATHS;
const EXCEEDED = [403, 'max_output_tokens_exceeded'];
const INVALID = [400, 'invalid_request'];

let world: World;
let capped: Record<Style, ProxyClient>;
let free: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  const create = (type: string) =>
    ProxyClient.create(world, { provider: { type }, policy: { max_output_tokens: CAP } });
  const openai = await create('openai');
  capped = {
    responses: openai,
    chat: openai,
    groq: await create('groq'),
    anthropic: await create('anthropic'),
    gemini: await create('gemini'),
  };
  free = await ProxyClient.create(world);
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

/** Every style has a priced model; Gemini's is in the path. */
const MODELS: Record<Style, string> = {
  responses: '"model":"gpt-4.1"',
  chat: '"model":"gpt-4.1"',
  groq: '"model":"llama-3.1-8b-instant"',
  anthropic: '"model":"claude-sonnet-5"',
  gemini: '"contents":[]',
};

/** The refusal of a call, or what the provider got after the model. `members` is JSON text. */
async function outcome(style: Style, members: string): Promise<unknown> {
  const start = `{${MODELS[style]}`;
  const answer = await capped[style].call(PATHS[style], { body: `${start}${members && `,${members}`}}` });
  const [request] = world.upstream.requests;
  if (answer.status !== 200) {
    expect(request).toBeUndefined();
    return refusalOf(answer);
  }
  expect(request?.body.toString()).toMatch(/}$/);
  return request?.body.toString().slice(start.length, -1);
}

describe('output cap of 100', () => {
  it.each<[Style, string, unknown]>([
    ['responses', '', ',"max_output_tokens":100'],
    ['responses', '"max_output_tokens":101', EXCEEDED],
    ['responses', '"max_output_tokens":1e3', EXCEEDED],
    ['responses', '"max\\u005foutput_tokens":101', EXCEEDED],
    ['responses', '"max_output_tokens":1e400', INVALID],
    ['responses', '"max_output_tokens":99.5', INVALID],
    ['responses', '"max_output_tokens":-1', INVALID],
    ['responses', '"max_output_tokens":"5"', INVALID],
    ['responses', '"max_output_tokens":[5]', INVALID],
    ['responses', '"max_output_tokens":true', INVALID],
    ['responses', '"max_output_tokens":5,"max_output_tokens":999', INVALID],
    ['responses', '"Max_Output_Tokens":999', INVALID],
    ['responses', '"max_output_tokenſ":999', INVALID],
    ['responses', '"max_output_tokens": 1e2', ',"max_output_tokens": 1e2'],
    ['responses', '"max_output_tokens":100.0', ',"max_output_tokens":100.0'],
    ['responses', '"max_output_tokens":null', ',"max_output_tokens":100'],
    ['responses', '"a":{"max_output_tokens":999}', ',"a":{"max_output_tokens":999},"max_output_tokens":100'],
    [
      'responses',
      '"__proto__":{"max_output_tokens":7},"constructor":{}',
      ',"__proto__":{"max_output_tokens":7},"constructor":{},"max_output_tokens":100',
    ],
    ['chat', '', ',"max_completion_tokens":100'],
    ['chat', '"max_tokens":101', EXCEEDED],
    ['chat', '"max_completion_tokens":101', EXCEEDED],
    ['chat', '"max_tokens":5,"max_completion_tokens":101', EXCEEDED],
    ['chat', '"max_completion_tokens":5,"max_tokens":101', EXCEEDED],
    ['chat', '"n":2,"max_tokens":51', EXCEEDED],
    ['chat', '"n":2,"max_tokens":50', ',"n":2,"max_tokens":50'],
    ['chat', '"n":3', ',"n":3,"max_completion_tokens":33'],
    ['chat', '"n":1,"best_of":4,"max_tokens":26', EXCEEDED],
    ['chat', '"n":101', EXCEEDED],
    ['chat', '"n":0', INVALID],
    ['chat', '"n":"2"', INVALID],
    ['chat', '"N":50', INVALID],
    ['chat', '"max_tokens":null,"max_completion_tokens":7', ',"max_tokens":null,"max_completion_tokens":7'],
    ['groq', '', ',"max_tokens":100'],
    ['groq', '"max_completion_tokens":101', EXCEEDED],
    ['anthropic', '', ',"max_tokens":100'],
    ['anthropic', '"max_tokens":101', EXCEEDED],
    ['gemini', '', ',"generationConfig":{"maxOutputTokens":100}'],
    ['gemini', '"generationConfig":{"maxOutputTokens":101}', EXCEEDED],
    ['gemini', '"generationConfig":{"max_output_tokens":101}', EXCEEDED],
    ['gemini', '"generation_config":{"maxOutputTokens":101}', EXCEEDED],
    ['gemini', '"generation_config":{"max_output_tokens":101}', EXCEEDED],
    ['gemini', '"generationConfig":{"maxOutputTokens":5},"generation_config":{"maxOutputTokens":101}', EXCEEDED],
    ['gemini', '"generationConfig":{"maxOutputTokens":51,"candidateCount":2}', EXCEEDED],
    ['gemini', '"generationConfig":{"maxOutputTokens":51,"candidate_count":2}', EXCEEDED],
    ['gemini', '"generationConfig":{"MAXOUTPUTTOKENS":5}', INVALID],
    ['gemini', '"generationConfig":{"maxOutputTokens":5,"maxOutputTokens":999}', INVALID],
    ['gemini', '"generationConfig":{},"generationConfig":{"maxOutputTokens":999}', INVALID],
    ['gemini', '"generationConfig":{"maxOutputTokens":0}', INVALID],
    ['gemini', '"generationConfig":{ "topK":1.50 }', ',"generationConfig":{ "topK":1.50 ,"maxOutputTokens":100}'],
    ['gemini', '"generationConfig":null', ',"generationConfig":{"maxOutputTokens":100}'],
  ])('%s body with %s → %j', async (style, members, expected) => {
    expect(await outcome(style, members)).toEqual(expected);
  });

  it('a path with its own clamp → checked by that style', async () => {
    const policy = { allowed_paths: [{ path: 'v1/responses', clamp: 'anthropic' }], max_output_tokens: CAP };
    const client = await ProxyClient.create(world, { policy });
    const call = (body: object) => client.call('v1/responses', { body: { model: 'gpt-4.1', ...body } });
    expect(refusalOf(await call({ max_tokens: 101 }))).toEqual(EXCEEDED);
    expect((await call({ max_output_tokens: 999, max_tokens: 1 })).status).toBe(200);
  });

  it.each([
    ['openai', 'v1/embeddings', '{"model":"text-embedding-3-small","input":"a"}'],
    ['openai', 'v1/responses/input_tokens', '{"model":"gpt-4.1","input":"a"}'],
    ['openai', 'v1/audio/speech', '{"model":"gpt-4.1","input":"a"}'],
    ['anthropic', 'v1/messages/count_tokens', '{"model":"claude-sonnet-5","messages":[]}'],
    ['gemini', 'v1beta/models/gemini-2.5-flash:countTokens', '{"contents":[]}'],
    ['gemini', 'v1beta/models/gemini-2.5-flash:batchEmbedContents', '{"requests":[]}'],
  ])('%s %s, which generates no text, listed by the application → sent without a ceiling', async (type, path, body) => {
    const listed = path.replace('gemini-2.5-flash', '{model}');
    const policy = { allowed_paths: [listed], max_output_tokens: CAP };
    const client = await ProxyClient.create(world, { provider: { type }, policy });
    expect((await client.call(path, { body })).status).toBe(200);
    expect(world.upstream.requests.map((request) => request.body.toString())).toEqual([body]);
  });
});

describe('ambiguous bodies', () => {
  it.each<[string, string | Buffer]>([
    ['the model twice', '{"model":"gpt-4.1","model":"o1"}'],
    ['the model twice, once escaped', '{"model":"gpt-4.1","\\u006dodel":"o1"}'],
    ['the model in other case', '{"model":"gpt-4.1","Model":"o1"}'],
    ['streaming twice', '{"model":"gpt-4.1","stream":false,"stream":true}'],
    ['an array', '[{"model":"gpt-4.1"}]'],
    ['a string', '"gpt-4.1"'],
    ['null', 'null'],
    ['nothing', ''],
    ['a form', 'model=gpt-4.1'],
    ['a second object behind the first', '{"model":"gpt-4.1"}{"model":"o1"}'],
    ['a comment', '{"model":"gpt-4.1"/* */}'],
    ['a trailing comma', '{"model":"gpt-4.1",}'],
    ['single quotes', "{'model':'gpt-4.1'}"],
    ['a byte order mark', '\ufeff{"model":"gpt-4.1"}'],
    ['a raw NUL in a string', '{"model":"gpt-4.1","a":"\u0000"}'],
    ['a raw line end in a string', '{"model":"gpt-4.1","a":"\n"}'],
    ['a NUL behind the object', '{"model":"gpt-4.1"}\u0000'],
    ['bytes that are not UTF-8', Buffer.from('{"model":"gpt-4.1","a":"\xff"}', 'latin1')],
    ['UTF-16', Buffer.from('{"model":"gpt-4.1"}', 'utf16le')],
    ['NaN', '{"model":"gpt-4.1","a":NaN}'],
    ['a number with a leading zero', '{"model":"gpt-4.1","a":01}'],
    ['nesting without end', `{"model":"gpt-4.1","a":${'['.repeat(5000)}`],
    ['very deep nesting', `{"model":"gpt-4.1","a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('%s → 400, nothing is sent', async (_name, body) => {
    expect(refusalOf(await free.call('v1/responses', { body }))).toEqual(INVALID);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/mixed; boundary=x'],
    ['application/json; charset=utf-16'],
    ['APPLICATION/JSON'],
  ])('JSON declared as %s → read as JSON and sent as application/json', async (contentType) => {
    await free.call('v1/responses', { headers: ['content-type', contentType], body: { model: 'gpt-4.1' } });
    expect(world.upstream.requests.map((request) => request.header('content-type'))).toEqual(['application/json']);
  });
});

describe('unchanged bodies', () => {
  /** JSON text with the blanks and spellings that parsers and printers lose. */
  const blank = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
  const scalar = fc.oneof(
    fc.constantFrom('1e3', '1.0', '-0', '0.10', '1E+2', '123456789012345678901234567890', 'true', 'null'),
    fc.constantFrom('"\\u0041"', '"\\/"', '"\\ud83d\\ude00"', '"\\ud800"', '"é😀"', '"__proto__"', '""'),
    fc
      .string({ unit: 'binary' })
      .filter((text) => text.isWellFormed())
      .map((text) => JSON.stringify(text)),
  );
  const name = fc.constantFrom(
    '"a"',
    '"a"',
    '"__proto__"',
    '"constructor"',
    '"toString"',
    '"\\u0061"',
    '"input"',
    '"metadata"',
  );
  const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('array'), tie('object')),
    array: fc
      .tuple(blank, fc.array(tie('value'), { maxLength: 4 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
    object: fc
      .tuple(blank, fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }))
      .map(([gap, members]) => `{${gap}${members.map(([key, item]) => `${key}${gap}:${item}`).join(`,${gap}`)}${gap}}`),
  }));

  it('random JSON in unusual notations → the same bytes upstream', () =>
    fc.assert(
      fc.asyncProperty(blank, fc.array(fc.tuple(name, value), { maxLength: 5 }), async (gap, members) => {
        const others = members.map(([key, item]) => `,${gap}${key}${gap}:${gap}${item}`).join('');
        const body = `${gap}{"model":"gpt-4.1"${others}${gap}}${gap}`;
        world.upstream.forget();
        const answer = await free.call('v1/responses', { body });
        expect([answer.status, world.upstream.requests[0]?.body.toString()]).toEqual([200, body]);
      }),
      { numRuns: 60 },
    ));

  it('a chunked body → the same bytes upstream, with a length', async () => {
    const body = '{ "model":"gpt-4.1" }';
    expect((await free.call('v1/responses', { body, chunked: true })).status).toBe(200);
    const [request] = world.upstream.requests;
    expect([request?.body.toString(), request?.header('content-length'), request?.header('transfer-encoding')]).toEqual(
      [body, String(body.length), undefined],
    );
  });
});

describe('20 MiB', () => {
  const start = '{"model":"gpt-4.1","a":"';
  const bodyOf = (bytes: number) => Buffer.from(`${start}${'x'.repeat(bytes - start.length - 2)}"}`);

  it('exactly 20 MiB → sent byte for byte', async () => {
    const body = bodyOf(LIMIT_BYTES);
    expect((await free.call('v1/responses', { body })).status).toBe(200);
    expect(world.upstream.requests[0]?.body.equals(body)).toBe(true);
  });

  it.each([
    ['a length one above it, before any byte', { headers: ['content-length', String(LIMIT_BYTES + 1)] }],
    ['a length beyond all numbers', { headers: ['content-length', '9'.repeat(15)] }],
    ['a whole body one above it', { body: bodyOf(LIMIT_BYTES + 1) }],
    ['chunks that add up to one above it', { body: bodyOf(LIMIT_BYTES + 1), chunked: true }],
  ])('%s → 413, nothing is sent', async (_name, options) => {
    const answer: Answer = await free.call('v1/responses', options);
    expect(refusalOf(answer)).toEqual([413, 'payload_too_large']);
    expect(world.upstream.requests).toHaveLength(0);
  });
});
