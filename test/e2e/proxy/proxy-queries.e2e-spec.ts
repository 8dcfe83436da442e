import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const GENERATE = 'v1beta/models/gemini-2.5-flash:generateContent';
const USAGE = { candidates: [], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } };

let world: World;
let gemini: ProxyClient;
let openai: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  gemini = await ProxyClient.create(world, { provider: { type: 'gemini' } });
  openai = await ProxyClient.create(world);
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, USAGE));
});

afterAll(() => world.stop());

const REFUSED = [
  ...['access_token=a', 'oauth_token=a', '%61ccess_token=a', '$access_token=a', 'ACCESS_TOKEN=a'],
  ...['quotaUser=u', 'userProject=p', '$userProject=p', 'user_project=p', 'x-goog-user-project=p', 'project=p'],
  ...['$httpMethod=GET', 'X-HTTP-Method-Override=DELETE', '_method=DELETE', '$httpHeaders=x-goog-api-key:%20a'],
  ...['fields=candidates', '$fields=candidates', 'f%69elds=candidates', 'X-Goog-FieldMask=candidates', 'fields[]=a'],
  ...['alt=proto', 'alt=media', '$alt=proto', 'alt=', 'alt=sse&alt=proto', 'alt=json&$alt=json', 'callback=f'],
  ...['uploadType=media', 'upload_protocol=resumable', '$.xgafv=1', 'model=gemini-2.5-pro', '$req=%7B%7D'],
  ...['a=1;fields=b', 'a=%zz', 'fields%00=a', '%2566ields=a'],
];

describe('query parameters of a provider call', () => {
  it.each(REFUSED)('Gemini-type, %s → 400, nothing is sent', async (query) => {
    expect(refusalOf(await gemini.call(`${GENERATE}?${query}`, { body: {} }))).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each(['access_token=a', 'fields=id', 'organization=o', 'X-HTTP-Method-Override=GET', 'alt=proto'])(
    'another type, %s → 400, nothing is sent',
    async (query) => {
      const answer = await openai.call(`v1/responses?${query}`, { body: { model: 'gpt-4.1' } });
      expect(refusalOf(answer)).toEqual([400, 'invalid_request']);
      expect(world.upstream.requests).toHaveLength(0);
    },
  );

  it('the refusal names the parameter, and comes before a body is read', async () => {
    const headers = ['content-length', String(21 * 1024 * 1024)];
    const answer = await gemini.call(`${GENERATE}?alt=sse&%66ields=a`, { headers });
    expect(JSON.parse(answer.body.toString()).error.message).toMatch(/^query\.fields: /);
  });

  it.each([
    ['alt=sse', '?alt=sse'],
    ['alt=json&prettyPrint=false', '?alt=json&prettyPrint=false'],
    ['key=SECRET&alt=sse', '?alt=sse'],
    ['%6Bey=SECRET&$key=SECRET&api_key=SECRET&API_KEY=SECRET', ''],
    [
      'beta=true&api-version=1&include[]=a&include[]=b&x=%20%2B',
      '?beta=true&api-version=1&include[]=a&include[]=b&x=%20%2B',
    ],
  ])('%s → sent as "%s", and metered', async (query, sent) => {
    const client = await ProxyClient.create(world, { provider: { type: 'gemini' } });
    expect((await client.call(`${GENERATE}?${query}`, { body: {} })).status).toBe(200);
    expect(world.upstream.requests.map(({ path }) => path)).toEqual([`/${GENERATE}${sent}`]);
    expect(await client.events()).toMatchObject([{ input_tokens: 3, output_tokens: 2, cost_source: 'computed' }]);
  });

  it('headers with the same meaning → not forwarded', async () => {
    const headers = [
      ...['x-http-method-override', 'DELETE', 'x-goog-fieldmask', 'candidates', 'x-goog-user-project', 'p'],
      ...['x-goog-request-params', 'model=x', 'x-http-method', 'GET', 'x-goog-quota-user', 'u'],
    ];
    expect((await gemini.call(GENERATE, { body: {}, headers })).status).toBe(200);
    const [request] = world.upstream.requests;
    const names = (request?.rawHeaders ?? []).filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => /method|mask|project|params|quota/.test(name))).toEqual([]);
  });
});
