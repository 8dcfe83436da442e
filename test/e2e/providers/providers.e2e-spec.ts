import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { Vault } from '../../../src/platform/vault/vault.js';
import { ProviderDirectory, providersChange } from '../../../src/providers/provider-directory.js';
import type { ProviderInstance } from '../../../src/providers/provider-instance.js';
import { PROVIDER_TYPES } from '../../../src/upstreams/provider-types.js';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import { eventually } from '../../support/eventually.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { emptyBody, json, redirect, resetBeforeAnswer, silence } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/providers';
const KEY = 'sk-the-very-secret-key-7777';

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, { data: [] }));
});

afterEach(async () => {
  expect(JSON.stringify(world.logs)).not.toContain(KEY);
  await world.dataSource.query('DELETE FROM providers');
});

afterAll(() => world.stop());

/** Creates an instance with the suite's key. */
async function created(members: object = {}): Promise<{ id: string; slug: string; revision: number }> {
  const answer = await world.api.post(PATH, { type: 'openai', name: 'First', secret: KEY, ...members });
  expect(answer.status).toBe(201);
  expect(answer.text).not.toContain(KEY);
  return answer.body.provider;
}

function update(id: string, body: object, api = world.api) {
  return api.put(`${PATH}/${id}`, body);
}

/** The provider that a call would use, read again. */
async function instanceOf(slug: string): Promise<ProviderInstance | undefined> {
  const directory = world.gateway.app.get(ProviderDirectory);
  world.gateway.app.get(ConfigChanges).applyHere(providersChange(organizationId));
  return (await directory.forOrganization(organizationId)).find(slug);
}

describe('POST providers', () => {
  it('minimal body → 201 with the documented fields, slug from the type, only the end of the key', async () => {
    const answer = await world.api.post(PATH, { type: 'anthropic', name: '  Claude  ', secret: KEY });
    expect(answer.status).toBe(201);
    expect(answer.body.provider).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      type: 'anthropic',
      slug: 'anthropic',
      name: 'Claude',
      secretHint: '7777',
      providerGatewayId: null,
      gatewayRoute: null,
      baseUrl: null,
      pricing: null,
      route: 'direct',
      capability: {
        apiStyles: [
          'responses',
          'chat_completions',
          'anthropic_messages',
          'gemini_native',
          'gemini_interactions',
          'audio_transcription',
          'other',
        ],
        endpointStyles: [],
        inferencePaths: expect.arrayContaining(['v1/messages', 'v1/messages/count_tokens']),
        modelPrefix: null,
        paths: 'provider',
      },
      lastTest: null,
      revision: 1,
      status: 'active',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      createdBy: expect.any(String),
    });
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('every provider type → accepted, with the capabilities of its type', async () => {
    for (const type of PROVIDER_TYPES) await created({ type });
    const { providers } = (await world.api.get(PATH)).body;
    expect(providers.map(({ type }: { type: string }) => type)).toEqual(PROVIDER_TYPES);
    const of = (type: string) => providers.find((one: { type: string }) => one.type === type).capability;
    expect(of('openrouter').apiStyles).toEqual(['chat_completions']);
    expect(of('openai').endpointStyles).toEqual(['responses', 'transcription']);
  });

  it('slug, address and prices → stored in canonical form and returned', async () => {
    const answer = await world.api.post(PATH, {
      type: 'openai',
      name: 'Second',
      slug: 'openai-2',
      secret: KEY,
      baseUrl: 'HTTPS://AI.Example.com/v1',
      pricing: { ' my-model ': { input: 0, output: 2.5, cached_input: 0.1 } },
    });
    expect(answer.status).toBe(201);
    expect(answer.body.provider).toMatchObject({
      slug: 'openai-2',
      baseUrl: 'https://ai.example.com/v1/',
      pricing: { 'my-model': { input: 0, output: 2.5, cached_input: 0.1 } },
      warnings: [expect.stringContaining('calls go to https://ai.example.com/v1/v1/models.')],
    });
    expect((await world.api.get(PATH)).body.providers).toEqual([answer.body.provider]);
  });

  it.each<[string, object, string]>([
    ['no credential', { secret: undefined }, 'secret: '],
    ['two credentials', { providerGatewayId: 'g' }, 'secret: '],
    ['empty key', { secret: '' }, 'secret: '],
    ['key of 2 characters', { secret: 'ab' }, 'secret: must be text of 8 to 4096 characters'],
    ['key of 7 characters', { secret: 'sk-1234' }, 'secret: must be text of 8 to 4096 characters'],
    ['key of 4097 characters', { secret: 'k'.repeat(4097) }, 'secret: '],
    ['key with a line end', { secret: `${KEY}\n` }, 'secret: '],
    [
      'address with a gateway',
      { secret: undefined, providerGatewayId: 'g', baseUrl: 'https://a.example.com' },
      'baseUrl: ',
    ],
    ['gateway route on a direct row', { gatewayRoute: { modelPrefix: 'a/' } }, 'gatewayRoute: '],
    ['slug of another type', { slug: 'gemini' }, 'slug: '],
    ['reserved slug', { slug: 'constructor' }, 'slug: '],
    ['reserved slug', { slug: 'prototype' }, 'slug: '],
    ['slug with upper case', { slug: 'OpenAI' }, 'slug: '],
    ['slug of 64 characters', { slug: 'a'.repeat(64) }, 'slug: '],
    ['unknown type', { type: 'constructor' }, 'type: '],
    ['missing type', { type: undefined }, 'type: is required'],
    ['blank name', { name: '   ' }, 'name: '],
    ['name of 101 characters', { name: 'n'.repeat(101) }, 'name: '],
    ['unknown member', { slugg: 'x' }, 'slugg: is not a known member'],
    ['negative price', { pricing: { m: { input: -1, output: 1 } } }, 'pricing.m.input: '],
    ['half a price', { pricing: { m: { input: 1 } } }, 'pricing.m.output: '],
    ['unknown price member', { pricing: { m: { input: 1, output: 1, long_input: 2 } } }, 'pricing.m.long_input: '],
    ['pricing that is not an object', { pricing: [] }, 'pricing: '],
  ])('%s → 400 naming the path, nothing stored', async (_what, members, message) => {
    const answer = await world.api.post(PATH, { type: 'openai', name: 'First', secret: KEY, ...members });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('invalid_request');
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect(answer.text).not.toContain(KEY);
    expect((await world.api.get(PATH)).body.providers).toEqual([]);
  });

  it.each([
    'http://ai.example.com/',
    'https://127.0.0.2/',
    'https://2130706434/',
    'https://[::1]/',
    'https://localhost/',
    'https://printer.local/',
    'https://ai.example.com:8443/',
    'https://user@ai.example.com/',
    'https://ai.example.com/?a=b',
    'https://ai.example.com/#x',
    'https://ai.example.com./',
    'https://ai.example.com/a/../b',
    'https://ai.example.com\\evil',
    `https://ai.example.com/${'a'.repeat(200)}`,
  ])('address %s → 400 naming baseUrl, in create and test', async (baseUrl) => {
    for (const path of [PATH, `${PATH}/test`]) {
      const name = path === PATH ? { name: 'First' } : {};
      const answer = await world.api.post(path, { type: 'openai', secret: KEY, baseUrl, ...name });
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toMatch(/^baseUrl: /);
    }
  });

  it('unknown gateway → 404 not_found, in create and test', async () => {
    const body = { type: 'openai', providerGatewayId: 'c0ffee00-0000-4000-8000-000000000000' };
    const answers = [
      await world.api.post(PATH, { ...body, name: 'First' }),
      await world.api.post(`${PATH}/test`, body),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
  });

  it('slug in use → 409 slug_taken; a disabled holder is named as such', async () => {
    const holder = await created();
    const body = { type: 'openai', name: 'Again', secret: KEY };
    const active = await world.api.post(PATH, body);
    await update(holder.id, { status: 'disabled' });
    const disabled = await world.api.post(PATH, body);
    expect([active.status, active.body.error.code]).toEqual([409, 'slug_taken']);
    expect([disabled.status, disabled.body.error.code]).toEqual([409, 'slug_taken']);
    expect(active.body.error.message).not.toContain('disabled');
    expect(disabled.body.error.message).toContain('disabled');
  });

  it('slug in use in another account → no conflict', async () => {
    await created();
    const other = world.as((await newAccount(world.dataSource)).key);
    const answer = await other.post(PATH, { type: 'openai', name: 'Theirs', secret: KEY });
    expect(answer.status).toBe(201);
  });

  it('race: ten creates with the same slug → one 201, nine 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.api.post(PATH, { type: 'openai', name: 'Race', secret: KEY })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
  });
});

describe('POST providers/test', () => {
  const test = (members: object = {}) =>
    world.api.post(`${PATH}/test`, { type: 'openai', secret: KEY, baseUrl: `${world.upstream.url}/base/`, ...members });

  it.each([
    ['openai', '/base/v1/models', { authorization: `Bearer ${KEY}` }],
    ['anthropic', '/base/v1/models', { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }],
    ['gemini', '/base/v1beta/models', { 'x-goog-api-key': KEY }],
    ['deepseek', '/base/models', { authorization: `Bearer ${KEY}` }],
    ['groq', '/base/openai/v1/models', { authorization: `Bearer ${KEY}` }],
    ['openrouter', '/base/v1/key', { authorization: `Bearer ${KEY}` }],
  ])('%s, accepted key → validated by one GET to its own address', async (type, path, headers) => {
    const answer = await test({ type });
    expect([answer.status, answer.body]).toEqual([200, { validated: true }]);
    expect(world.upstream.requests.map(({ method, path: sent }) => `${method} ${sent}`)).toEqual([`GET ${path}`]);
    for (const [name, value] of Object.entries(headers)) {
      expect(world.upstream.requests[0]?.header(name)).toBe(value);
    }
    expect((await world.api.get(PATH)).body.providers).toEqual([]);
  });

  it.each([401, 403])(
    'provider answers %i → 400 provider_key_invalid with that status, never the key',
    async (status) => {
      world.upstream.script(json(status, { error: `no such key: ${KEY}` }));
      const answer = await test();
      expect([answer.status, answer.body.error.code]).toEqual([400, 'provider_key_invalid']);
      expect(answer.body.error.message).toContain(String(status));
      expect(answer.text).not.toContain(KEY);
    },
  );

  it.each([400, 404, 418, 429, 500, 503])('provider answers %i → unexpected_status', async (status) => {
    world.upstream.script(json(status, { error: KEY }));
    expect((await test()).body).toEqual({ validated: false, reason: 'unexpected_status', status });
  });

  it('redirect → not followed', async () => {
    world.upstream.script(redirect(302, `${world.upstream.url}/elsewhere`));
    expect((await test()).body).toEqual({ validated: false, reason: 'unexpected_status', status: 302 });
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('answer without a body → validated', async () => {
    world.upstream.script(emptyBody(204));
    expect((await test()).body).toEqual({ validated: true });
  });

  it('endless body → not read', async () => {
    world.upstream.script(({ response }) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    expect((await test()).body).toEqual({ validated: true });
    await eventually(() => world.upstream.openConnections() === 0, { withinMs: 10_000 });
  });

  it('connection reset, or no listener → unreachable', async () => {
    world.upstream.script(resetBeforeAnswer());
    expect((await test()).body).toEqual({ validated: false, reason: 'unreachable' });
    expect((await test({ baseUrl: 'http://127.0.0.1:1/' })).body).toEqual({ validated: false, reason: 'unreachable' });
  });

  it('silence → unreachable, after four seconds and before any answer', async () => {
    world.upstream.script(silence());
    const startedAt = performance.now();
    expect((await test()).body).toEqual({ validated: false, reason: 'unreachable' });
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(3_900);
  });

  it.each(['perplexity', 'fireworks', 'huggingface', 'bytedance'])('%s → no_probe, nothing is sent', async (type) => {
    expect((await test({ type })).body).toEqual({ validated: false, reason: 'no_probe' });
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each<[string, object]>([
    ['no credential', { secret: undefined }],
    ['two credentials', { providerGatewayId: 'g' }],
    ['unknown member', { name: 'First' }],
  ])('%s → 400', async (_what, members) => {
    const answer = await test(members);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('POST providers/{id}/test', () => {
  const stored = (id: string) => world.api.post(`${PATH}/${id}/test`);
  const lastTest = async () => (await world.api.get(PATH)).body.providers[0].lastTest;
  const there = () => created({ baseUrl: `${world.upstream.url}/` });

  it.each([
    [200, 'accepted'],
    [401, 'refused'],
    [403, 'refused'],
    [503, 'unexpected_status'],
  ])('provider answers %i → stored as %s, without a new revision', async (status, result) => {
    const { id } = await there();
    world.upstream.script(json(status, {}));
    expect((await stored(id)).status).toBe(result === 'refused' ? 400 : 200);
    const [listed] = (await world.api.get(PATH)).body.providers;
    expect(listed).toMatchObject({ lastTest: { at: expect.any(String), result }, revision: 1 });
  });

  it('no answer → stored as unreachable; a type without a free call → nothing is stored', async () => {
    const { id } = await there();
    world.upstream.script(resetBeforeAnswer());
    await stored(id);
    expect(await lastTest()).toMatchObject({ result: 'unreachable' });
    await world.dataSource.query('DELETE FROM providers');
    const silent = await created({ type: 'perplexity' });
    expect((await stored(silent.id)).body).toEqual({ validated: false, reason: 'no_probe' });
    expect(await lastTest()).toBeNull();
  });

  it('another key or address → untested again; another name → still tested', async () => {
    const { id } = await there();
    await stored(id);
    expect((await update(id, { name: 'Renamed' })).body.provider.lastTest).toMatchObject({ result: 'accepted' });
    expect((await update(id, { secret: 'sk-another-key-0000' })).body.provider.lastTest).toBeNull();
    await stored(id);
    expect((await update(id, { baseUrl: null })).body.provider.lastTest).toBeNull();
  });

  it('the key is replaced during the test → the result is not stored for the new one', async () => {
    const { id } = await there();
    world.upstream.script(async ({ response }) => {
      await update(id, { secret: 'sk-another-key-0000' });
      response.writeHead(401).end();
    });
    expect((await stored(id)).status).toBe(400);
    expect(await lastTest()).toBeNull();
  });

  it('of another account → 404, nothing is sent or stored', async () => {
    const { id } = await there();
    const other = world.as((await newAccount(world.dataSource)).key);
    expect((await other.post(`${PATH}/${id}/test`)).status).toBe(404);
    expect(world.upstream.requests).toHaveLength(0);
    expect(await lastTest()).toBeNull();
  });
});

describe('PUT providers/{id}', () => {
  it('each field alone → changed, the others kept, revision incremented', async () => {
    const { id } = await created();
    const steps = [
      { name: 'Renamed' },
      { pricing: { m: { input: 1, output: 2 } } },
      { status: 'disabled' },
      { status: 'active' },
      { gatewayRoute: null },
      { pricing: null },
    ];
    let before = (await world.api.get(PATH)).body.providers[0];
    for (const step of steps) {
      const answer = await update(id, step);
      expect(answer.status).toBe(200);
      expect(answer.body.provider).toEqual({ ...before, ...step, revision: before.revision + 1 });
      before = answer.body.provider;
    }
    expect((await world.api.get(PATH)).body.providers).toEqual([before]);
  });

  it('pricing → replaced as a whole, not merged', async () => {
    const { id } = await created({ pricing: { a: { input: 1, output: 1 } } });
    const answer = await update(id, { pricing: { b: { per_minute: 0.5 } } });
    expect(answer.body.provider.pricing).toEqual({ b: { per_minute: 0.5 } });
  });

  it.each([
    ['12345678', '78'],
    ['0123456789abcde', 'de'],
    ['0123456789abcdef', 'cdef'],
  ])('key %s → hint %s; the same for a longer hint stored by an earlier version', async (secret, secretHint) => {
    const { id } = await created();
    expect((await update(id, { secret })).body.provider.secretHint).toBe(secretHint);
    await world.dataSource.query('UPDATE providers SET secret_hint = $2 WHERE id = $1', [id, secret.slice(-4)]);
    expect((await world.api.get(PATH)).body.providers).toMatchObject([{ id, secretHint }]);
  });

  it('key of an earlier version, of 3 characters → no part of it is shown', async () => {
    const { id } = await created();
    const blob = await world.gateway.app.get(Vault).seal(new Secret('abc'), {});
    await world.dataSource.query("UPDATE providers SET secret_hint = 'abc', secret_blob = $2 WHERE id = $1", [
      id,
      blob,
    ]);
    expect((await world.api.get(PATH)).body.providers).toMatchObject([{ id, secretHint: '' }]);
  });

  it('a new key that is too short → 400, the old one stays', async () => {
    const { id } = await created();
    const answer = await update(id, { secret: 'sk-1234' });
    expect([answer.status, answer.body.error.message]).toEqual([400, 'secret: must be text of 8 to 4096 characters']);
    expect((await world.api.get(PATH)).body.providers).toMatchObject([{ secretHint: '7777', revision: 1 }]);
  });

  it('new key → new hint, and calls use it', async () => {
    const { id } = await created();
    const answer = await update(id, { secret: 'sk-another-key-0000' });
    expect(answer.body.provider.secretHint).toBe('0000');
    expect(answer.text).not.toContain('sk-another');
    expect(await (await instanceOf('openai'))?.credentialHeaders()).toEqual([
      'authorization',
      'Bearer sk-another-key-0000',
    ]);
  });

  it('pause → key, prices and slug stay; resuming never conflicts', async () => {
    const { id } = await created({ pricing: { m: { input: 1, output: 2 } } });
    await update(id, { status: 'disabled' });
    const paused = await instanceOf('openai');
    expect(paused?.status).toBe('disabled');
    expect(paused?.customPrices.has('m')).toBe(true);
    expect((await update(id, { status: 'active' })).status).toBe(200);
    expect(await (await instanceOf('openai'))?.credentialHeaders()).toEqual(['authorization', `Bearer ${KEY}`]);
  });

  it('address without the key for it → 400 naming secret; nothing changes', async () => {
    const { id } = await created();
    const answer = await update(id, { baseUrl: 'https://thief.example.com/' });
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toMatch(/^secret: /);
    expect((await instanceOf('openai'))?.baseUrl.origin).toBe('https://api.openai.com');
  });

  it('address with a key → both change together; null → the address of the type, the key sealed for it', async () => {
    const { id } = await created();
    const moved = await update(id, { baseUrl: 'https://ai.example.com/v2', secret: 'sk-moved-key-1111' });
    expect(moved.body.provider).toMatchObject({ baseUrl: 'https://ai.example.com/v2/', secretHint: '1111' });
    const there = await instanceOf('openai');
    expect(there?.baseUrl).toEqual({ origin: 'https://ai.example.com', path: '/v2/' });
    expect(await there?.credentialHeaders()).toEqual(['authorization', 'Bearer sk-moved-key-1111']);
    const back = await update(id, { baseUrl: null });
    expect(back.body.provider).toMatchObject({ baseUrl: null, secretHint: '1111' });
    const home = await instanceOf('openai');
    expect(home?.baseUrl).toEqual({ origin: 'https://api.openai.com', path: '/' });
    expect(await home?.credentialHeaders()).toEqual(['authorization', 'Bearer sk-moved-key-1111']);
  });

  it.each<[string, object, string]>([
    ['nothing', {}, 'body: '],
    ['only a revision', { revision: 1 }, 'body: '],
    ['gateway route on a direct row', { gatewayRoute: {} }, 'gatewayRoute: '],
    ['type', { type: 'groq' }, 'type: '],
    ['slug', { slug: 'other' }, 'slug: '],
    ['gateway', { providerGatewayId: 'g' }, 'providerGatewayId: '],
    ['unknown status', { status: 'deleted' }, 'status: '],
    ['null name', { name: null }, 'name: '],
    ['null key', { secret: null }, 'secret: '],
    ['revision 0', { name: 'n', revision: 0 }, 'revision: '],
    ['bad address', { secret: KEY, baseUrl: 'http://ai.example.com' }, 'baseUrl: '],
    ['bad price', { pricing: { m: { input: 1, output: '2' } } }, 'pricing.m.output: '],
  ])('%s → 400 naming the path', async (_what, body, message) => {
    const { id } = await created();
    const answer = await update(id, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect((await world.api.get(PATH)).body.providers[0].revision).toBe(1);
  });

  it('revision: the stored one → 200; an older or future one → 409 conflict', async () => {
    const { id } = await created();
    expect((await update(id, { name: 'Two', revision: 1 })).body.provider.revision).toBe(2);
    for (const revision of [1, 3]) {
      const answer = await update(id, { name: 'Three', revision });
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    }
  });

  it('race: two writers with the same revision → one 200, one 409', async () => {
    const { id } = await created();
    const answers = await Promise.all([update(id, { name: 'A', revision: 1 }), update(id, { name: 'B', revision: 1 })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('race: four writers without a revision → all 200, every change kept', async () => {
    const { id } = await created();
    const answers = await Promise.all([
      update(id, { name: 'A' }),
      update(id, { pricing: { m: { input: 1, output: 2 } } }),
      update(id, { status: 'disabled' }),
      update(id, { secret: 'sk-racing-key-2222' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await world.api.get(PATH)).body.providers[0]).toMatchObject({
      name: 'A',
      pricing: { m: { input: 1, output: 2 } },
      status: 'disabled',
      secretHint: '2222',
      revision: 5,
    });
  });

  it('the key is resealed meanwhile → the write succeeds, and the older seal does not return', async () => {
    const { id } = await created();
    const nightly = world.dataSource.createQueryRunner();
    await nightly.startTransaction();
    await nightly.query("UPDATE providers SET secret_blob = 'sealed anew' WHERE id = $1", [id]);
    const renamed = update(id, { name: 'Renamed', revision: 1 });
    await untilStatementWaits(world.dataSource, 'SELECT "ProviderEntity"');
    await nightly.commitTransaction();
    await nightly.release();
    expect((await renamed).body.provider).toMatchObject({ name: 'Renamed', revision: 2 });
    const rows = await world.dataSource.query('SELECT secret_blob AS blob FROM providers WHERE id = $1', [id]);
    expect(rows).toEqual([{ blob: 'sealed anew' }]);
  });

  it('unknown id and another account’s id → the same 404; the other account sees nothing', async () => {
    const { id } = await created();
    const other = world.as((await newAccount(world.dataSource)).key);
    const [foreign, unknown] = [
      await update(id, { name: 'Mine' }, other),
      await update('no-such-id', { name: 'x' }, other),
    ];
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    expect(foreign.body.error.code).toBe('not_found');
    expect((await other.get(PATH)).body).toEqual({ providers: [] });
    expect((await other.delete(`${PATH}/${id}`)).status).toBe(404);
    expect((await world.api.get(PATH)).body.providers).toHaveLength(1);
  });
});

describe('DELETE providers/{id}', () => {
  it('an existing provider → deleted with its key and slug; again → 404', async () => {
    const { id } = await created();
    const answer = await world.api.delete(`${PATH}/${id}`);
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, provider_id: id }]);
    const again = await world.api.delete(`${PATH}/${id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    expect(await instanceOf('openai')).toBeUndefined();
    await created();
  });
});

describe('stored key', () => {
  const blobs = () => world.dataSource.query<{ id: string; secret_blob: string }[]>('SELECT * FROM providers');

  it('row → sealed: neither the key nor a plain encoding of it is in the table', async () => {
    await created();
    const text = JSON.stringify(await blobs());
    expect(text).toContain('local1.1.');
    for (const form of [
      KEY,
      Buffer.from(KEY).toString('base64').replace(/=+$/, ''),
      Buffer.from(KEY).toString('hex'),
    ]) {
      expect(text).not.toContain(form);
    }
  });

  it('same key twice → different blobs', async () => {
    await created();
    await created({ slug: 'second' });
    expect(new Set((await blobs()).map(({ secret_blob }) => secret_blob)).size).toBe(2);
  });

  it('blob moved to another row, or address of its row changed → does not open, only in that row', async () => {
    const first = await created();
    await created({ slug: 'second' });
    await created({ slug: 'third' });
    await instanceOf('openai').then((one) => one?.credentialHeaders());
    await world.dataSource.query(
      "UPDATE providers SET secret_blob = (SELECT secret_blob FROM providers WHERE id = $1) WHERE slug = 'second'",
      [first.id],
    );
    await world.dataSource.query("UPDATE providers SET base_url = 'https://thief.example.com/' WHERE id = $1", [
      first.id,
    ]);
    for (const slug of ['openai', 'second']) {
      const headers = Promise.resolve((await instanceOf(slug))?.credentialHeaders());
      await expect(headers).rejects.toMatchObject({ code: 'provider_unavailable', status: 502 });
    }
    expect(await (await instanceOf('third'))?.credentialHeaders()).toEqual(['authorization', `Bearer ${KEY}`]);
    expect(world.logs).toContainEqual(
      expect.objectContaining({ message: 'provider_secret_unavailable', providerId: first.id }),
    );
  });
});

describe('changes', () => {
  it('change made by another instance → visible here within a second of its notification', async () => {
    const { id } = await created();
    const directory = world.gateway.app.get(ProviderDirectory);
    await instanceOf('openai');
    await world.dataSource.query("UPDATE providers SET status = 'disabled' WHERE id = $1", [id]);
    await world.dataSource.query("SELECT pg_notify('gateway_config', $1)", [
      JSON.stringify(['providers', organizationId]),
    ]);
    const statusNow = async () => (await directory.forOrganization(organizationId)).find('openai')?.status;
    await eventually(async () => (await statusNow()) === 'disabled', { withinMs: 10_000 });
  });
});

describe('misconfigured vault', () => {
  const STORED = 'c0ffee00-0000-4000-8000-000000000001';
  let broken: World;

  beforeAll(async () => {
    broken = await startWorld({ env: { SECRET_VAULT_LOCAL_KEK_V1: 'not-a-key' } });
    const account = await firstOrganizationId(broken.dataSource);
    await broken.dataSource.query(
      `INSERT INTO providers VALUES ('${STORED}', $1, 'openai', 'openai', 'First', 'local1.1.x.y', 'abcd',
         'https://ai.example.com/', NULL, 1, 'active', 'someone', now(), now())`,
      [account],
    );
  });

  afterAll(() => broken.stop());

  it('writes that seal a secret → 502 provider_unavailable, nothing stored', async () => {
    const answers = [
      await broken.api.post(PATH, { type: 'groq', name: 'New', secret: KEY }),
      await broken.api.put(`${PATH}/${STORED}`, { secret: KEY }),
      await broken.api.put(`${PATH}/${STORED}`, { baseUrl: null }),
    ];
    for (const answer of answers)
      expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_unavailable']);
    const { providers } = (await broken.api.get(PATH)).body;
    expect(providers).toEqual([expect.objectContaining({ id: STORED, revision: 1 })]);
  });

  it('everything else → keeps working', async () => {
    expect((await broken.api.put(`${PATH}/${STORED}`, { name: 'Renamed', status: 'disabled' })).status).toBe(200);
    const test = { type: 'openai', secret: KEY, baseUrl: `${broken.upstream.url}/` };
    expect((await broken.api.post(`${PATH}/test`, test)).body).toEqual({ validated: true });
    expect((await broken.api.delete(`${PATH}/${STORED}`)).status).toBe(200);
  });
});
