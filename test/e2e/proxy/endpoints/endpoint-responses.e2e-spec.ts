import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { type Answer, documentedRefusals, refusalOf } from '../../../support/proxy/proxy-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const ANSWER = { id: 'resp_1', object: 'response', usage: { input_tokens: 10, output_tokens: 2 } };
const MIB = 1024 * 1024;
const BAD_REQUEST = [400, 'invalid_request'];

let world: World;
let documented: (answer: Answer) => void;
/** Names no parameters and no cap. */
let plain: EndpointClient;

beforeAll(async () => {
  world = await startWorld();
  documented = documentedRefusals(world, '/v1/apps/a/endpoints/b');
  plain = await EndpointClient.create(world);
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, ANSWER));
});

afterAll(() => world.stop());

const withParams = (params: unknown, max_output_tokens?: number) =>
  EndpointClient.create(world, { endpoint: { params, max_output_tokens } });

async function expectRefused(call: Promise<Answer>, refusal: unknown): Promise<void> {
  const answer = await call;
  expect(refusalOf(answer)).toEqual(refusal);
  documented(answer);
  expect(world.upstream.requests).toHaveLength(0);
}

describe('merge of params over the client body', () => {
  it('every rule at once → every byte outside the server’s members is as sent', async () => {
    const client = await withParams(
      { instructions: 'Be brief.', text: { format: { type: 'text' } }, temperature: null },
      800,
    );
    const body =
      '{"model":"cheap","input":"Hi","seed":1.0,"text":{"verbosity":"low","format":{"type":"json"}},"temperature":0.5}';
    expect(await client.sent({ body })).toBe(
      '{"model":"gpt-4.1","input":"Hi","seed":1.0,"text":{"verbosity":"low","format":{"type":"text"}},"temperature":null,"instructions":"Be brief.","max_output_tokens":800}',
    );
    expect(world.upstream.requests[0]?.path).toBe('/v1/responses');
  });

  it.each<[string, object, object, object]>([
    ['objects at any depth are merged', { a: { b: { c: 1 } } }, { a: { b: { d: 2 } } }, { a: { b: { d: 2, c: 1 } } }],
    ['an array replaces an array', { a: [1] }, { a: [2, 3, { b: 4 }] }, { a: [1] }],
    ['an empty array replaces an array', { a: [] }, { a: [2] }, { a: [] }],
    ['an array replaces an object', { a: [1] }, { a: { b: 1 } }, { a: [1] }],
    ['an object replaces an array', { a: { b: 1 } }, { a: [1] }, { a: { b: 1 } }],
    ['an object replaces a text', { a: { b: 1 } }, { a: 'x' }, { a: { b: 1 } }],
    ['an object replaces null', { a: { b: 1 } }, { a: null }, { a: { b: 1 } }],
    ['a text replaces an object', { a: 'x' }, { a: { b: 1 } }, { a: 'x' }],
    [
      'null replaces anything',
      { a: null, b: { c: null } },
      { a: { d: 1 }, b: { c: [1] } },
      { a: null, b: { c: null } },
    ],
    ['null is added where nothing was', { a: null }, {}, { a: null }],
    ['an empty object changes no object', { a: {} }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['an empty object replaces a number', { a: {} }, { a: 1 }, { a: {} }],
    [
      'false and 0 win like anything else',
      { a: false, b: 0, c: '' },
      { a: true, b: 1, c: 'x' },
      { a: false, b: 0, c: '' },
    ],
    [
      'objects inside arrays are not looked into',
      { a: { b: 1 } },
      { c: [{ a: { b: 2 } }] },
      { a: { b: 1 }, c: [{ a: { b: 2 } }] },
    ],
    ['the endpoint’s model wins over params and client', { model: 'gpt-4o' }, { model: 'o3' }, {}],
    ['stream is the client’s to say', {}, { stream: false }, { stream: false }],
    ['and the server’s to overrule', { stream: false }, { stream: true }, { stream: false }],
  ])('%s: %j over %j → %j', async (_name, params, body, merged) => {
    const client = await withParams(params);
    expect(JSON.parse(await client.sent({ body }))).toEqual({ ...merged, model: 'gpt-4.1' });
  });

  it('no params → the body as sent, with only its model replaced', async () => {
    const body = '{ "input" : "é\\u00e9" , "model":  null, "seed": 12345678901234567890 }';
    expect(await plain.sent({ body })).toBe(body.replace('null', '"gpt-4.1"'));
  });

  it('a model from the client → never reaches the provider, wherever and in whatever spelling', async () => {
    expect(JSON.parse(await plain.sent({ body: '{"\\u006dodel":"o3","input":"Hi"}' }))).toEqual({
      model: 'gpt-4.1',
      input: 'Hi',
    });
  });

  it('prototype names from the client → plain data, as sent', async () => {
    const client = await withParams({ safe: { kept: true } });
    const body =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"safe":{"__proto__":{"kept":false}},"toString":1}';
    expect(await client.sent({ body })).toBe(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"safe":{"__proto__":{"kept":false},"kept":true},"toString":1,"model":"gpt-4.1"}',
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('prototype names in params → __proto__ is left out at every depth, the others are plain data', async () => {
    const client = await withParams(
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"a":1},"b":{"__proto__":{"c":1},"prototype":2}}'),
    );
    const sent = await client.sent({ body: '{"constructor":{"z":0}}' });
    expect(sent).toBe('{"constructor":{"z":0,"a":1},"b":{"prototype":2},"model":"gpt-4.1"}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('output cap of 100, checked after the merge', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['client above', {}, { max_output_tokens: 101 }, [403, 'max_output_tokens_exceeded']],
    ['client says a fraction', {}, { max_output_tokens: 99.5 }, BAD_REQUEST],
    ['client says a text', {}, { max_output_tokens: '5' }, BAD_REQUEST],
    ['client says an object', {}, { max_output_tokens: {} }, BAD_REQUEST],
    ['client says it twice', {}, '{"max_output_tokens":5,"max_output_tokens":101}', BAD_REQUEST],
    ['client says it in other case', {}, { Max_Output_Tokens: 101 }, BAD_REQUEST],
  ])('%s → refused', async (_name, params, body, refusal) => {
    const client = await withParams(params, 100);
    await expectRefused(client.call({ body: body as object | string }), refusal);
  });

  it.each<[string, unknown, object, number]>([
    ['client says nothing', {}, {}, 100],
    ['client says null', {}, { max_output_tokens: null }, 100],
    ['params say null over the client', { max_output_tokens: null }, { max_output_tokens: 101 }, 100],
    ['client equal', {}, { max_output_tokens: 100 }, 100],
    ['client below', {}, { max_output_tokens: 1 }, 1],
    ['params equal, client above', { max_output_tokens: 100 }, { max_output_tokens: 101 }, 100],
    ['params below, client nothing', { max_output_tokens: 7 }, {}, 7],
  ])('%s (params %j, client %j) → sent with %d', async (_name, params, body, sent) => {
    const client = await withParams(params, 100);
    expect(JSON.parse(await client.sent({ body }))).toEqual({ max_output_tokens: sent, model: 'gpt-4.1' });
  });

  it('no cap → any value from the client', async () => {
    const body = { max_output_tokens: 1_000_000 };
    expect(JSON.parse(await plain.sent({ body }))).toEqual({ ...body, model: 'gpt-4.1' });
    expect(JSON.parse(await plain.sent({ body: {} }))).toEqual({ model: 'gpt-4.1' });
  });
});

describe('bodies that are refused', () => {
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['blanks', '  \n'],
    ['an array', '[{"input":"Hi"}]'],
    ['null', 'null'],
    ['a text', '"Hi"'],
    ['a number', '7'],
    ['an object cut short', '{"input":"Hi"'],
    ['text behind the object', '{"input":"Hi"} {}'],
    ['a trailing comma', '{"input":"Hi",}'],
    ['a comment', '{"input":"Hi"/**/}'],
    ['single quotes', "{'input':'Hi'}"],
    ['a byte order mark', '\ufeff{"input":"Hi"}'],
    ['UTF-16', Buffer.from('{"input":"Hi"}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from('{"input":"\xff"}', 'latin1')],
    ['the model twice', '{"model":"a","model":"b"}'],
    ['the model twice, one escaped', '{"model":"a","mod\\u0065l":"b"}'],
    ['the stream twice', '{"stream":true,"stream":false}'],
    ['a form', '--b\r\nContent-Disposition: form-data; name="input"\r\n\r\nHi\r\n--b--\r\n'],
  ])('%s → 400', (_name, body) => expectRefused(plain.call({ body }), BAD_REQUEST));

  it('a form that says so → 400', () => {
    const headers = ['content-type', 'multipart/form-data; boundary=b'];
    const body = '--b\r\nContent-Disposition: form-data; name="input"\r\n\r\nHi\r\n--b--\r\n';
    return expectRefused(plain.call({ headers, body }), BAD_REQUEST);
  });

  it.each([
    ['a member of params twice', '{"a":1,"a":2}'],
    ['a member inside params twice', '{"b":{"c":1,"\\u0063":2}}'],
  ])('%s → 400', async (_name, body) => {
    const client = await withParams({ a: 0, b: { c: 0 } });
    await expectRefused(client.call({ body }), BAD_REQUEST);
  });

  it('background → 400', () => expectRefused(plain.call({ body: { background: true } }), BAD_REQUEST));

  it('background overridden by params, or false → the sent body is checked, so served', async () => {
    const client = await withParams({ background: false });
    expect(JSON.parse(await client.sent({ body: { background: true } }))).toMatchObject({ background: false });
    expect(JSON.parse(await plain.sent({ body: { background: false } }))).toMatchObject({ background: false });
  });

  it.each([
    { prompt: { id: 'pmpt_1' } },
    { conversation: 'conv_1' },
    { service_tier: 'priority' },
    { input: [{ file_id: 'f' }] },
  ])('%j, which is not supported → 400', (body) => expectRefused(plain.call({ body }), BAD_REQUEST));

  it('objects kept at the provider that params name → the operator’s own, so served; the client’s beside them → 400', async () => {
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_1'] }];
    const client = await withParams({ tools, prompt: { id: 'pmpt_1' } });
    expect(JSON.parse(await client.sent({ body: { input: 'Hi' } }))).toMatchObject({ tools, prompt: { id: 'pmpt_1' } });
    world.upstream.forget();
    await expectRefused(client.call({ body: { input: [{ file_id: 'f' }] } }), BAD_REQUEST);
  });

  it('previous_response_id → accepted only from whoever received that response, through endpoint or proxy', async () => {
    const client = await EndpointClient.create(world);
    const stranger = await EndpointClient.create(world);
    world.upstream.script(json(200, { ...ANSWER, id: 'resp_owned' }));
    expect((await client.call()).status).toBe(200);
    await client.proxy.events();
    const body = { input: 'More', previous_response_id: 'resp_owned' };
    expect(JSON.parse(await client.sent({ body }))).toEqual({ ...body, model: 'gpt-4.1' });
    expect((await client.proxy.call('v1/responses', { body: { ...body, model: 'gpt-4.1' } })).status).toBe(200);
    world.upstream.forget();
    await expectRefused(stranger.call({ body }), BAD_REQUEST);
    await expectRefused(client.call({ body: { ...body, previous_response_id: 'resp_other' } }), BAD_REQUEST);
    await expectRefused(client.call({ body: { ...body, previous_response_id: 7 } }), BAD_REQUEST);
  });

  it('previous_response_id in params → checked like one of the client’s', async () => {
    const client = await withParams({ previous_response_id: 'resp_of_nobody' });
    await expectRefused(client.call(), BAD_REQUEST);
  });
});

describe('20 MiB', () => {
  const ofSize = (bytes: number) => `{"input":"${'x'.repeat(bytes - 12)}"}`;

  it('exactly → sent completely, with the server’s additions', async () => {
    const body = ofSize(20 * MIB);
    const client = await withParams({ instructions: 'Be brief.' }, 5);
    const sent = await client.sent({ body });
    const added = ',"instructions":"Be brief.","model":"gpt-4.1","max_output_tokens":5}';
    expect(sent === `${body.slice(0, -1)}${added}`).toBe(true);
  });

  it.each([false, true])('one byte more (chunked: %s) → 413', async (chunked) => {
    await expectRefused(plain.call({ body: ofSize(20 * MIB + 1), chunked }), [413, 'payload_too_large']);
  });
});
