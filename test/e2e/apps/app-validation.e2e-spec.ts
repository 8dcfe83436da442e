import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { codeOf } from '../../support/api-client.js';
import { startWorld, type World } from '../../support/world.js';

const VALIDATE = '/v1/admin/apps/validate';
const OPENAI = { type: 'openai', name: 'OpenAI', slug: 'later' };
const REFUSED = [400, 'invalid_request'];
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** A configuration that reaches one provider and one model of it. */
const naming = (slug: string, model = 'gpt-4.1-mini') => ({
  authentication: { type: 'api_key' },
  routing: {
    providers: { mode: 'selected', selected: { [slug]: { allowed_paths: [], allowed_models: [model] } } },
    model_rewrites: {},
  },
});
const draft = (members: object = {}) => ({ name: 'Notes', config: naming('later'), ...members });

describe('validation with assumed providers', () => {
  it('a provider that is not there yet → refused without, accepted with it', async () => {
    expect(codeOf(await world.api.post(VALIDATE, draft()))).toEqual(REFUSED);
    const answer = await world.api.post(VALIDATE, draft({ assumed_providers: [OPENAI] }));
    expect([answer.status, answer.body]).toEqual([200, { valid: true }]);
    expect((await world.api.get('/v1/admin/providers')).body.providers).toEqual([]);
  });

  it('custom prices of an assumed one → count, in place of those that are stored', async () => {
    const api = world.as((await newAccount(world.dataSource)).key);
    const pricing = { own: { input: 1, output: 2 } };
    await api.post('/v1/admin/providers', { ...OPENAI, secret: 'sk-of-a-provider', pricing });
    const body = draft({ config: naming('later', 'own') });
    expect((await api.post(VALIDATE, body)).status).toBe(200);
    const unpriced = await api.post(VALIDATE, { ...body, assumed_providers: [OPENAI] });
    expect(unpriced.body.error.message).toContain('has no price');
    const { app } = (await api.post('/v1/admin/apps', body)).body;
    const again = { ...body, assumed_providers: [OPENAI] };
    expect(codeOf(await api.post(`/v1/admin/apps/${app.id}/validate`, again))).toEqual(REFUSED);
    const priced = { ...body, assumed_providers: [{ ...OPENAI, pricing }] };
    expect((await api.post(`/v1/admin/apps/${app.id}/validate`, priced)).body).toEqual({ valid: true, app_id: app.id });
  });

  it.each([
    ['no list', {}, 'assumed_providers'],
    ['no object', [7], 'assumed_providers.0'],
    ['with a secret', [{ ...OPENAI, secret: 'sk-of-a-provider' }], 'assumed_providers.0.secret'],
    ['of no type', [{ ...OPENAI, type: 'nobody' }], 'assumed_providers.0.type'],
    ['with a strange member', [{ ...OPENAI, color: 'red' }], 'assumed_providers.0.color'],
    ['at an address of its own network', [{ ...OPENAI, baseUrl: 'https://10.0.0.1/' }], 'baseUrl'],
    ['too many', Array.from({ length: 201 }, () => OPENAI), 'assumed_providers'],
  ])('%s → 400 that names it', async (_name, assumed, path) => {
    const answer = await world.api.post(VALIDATE, draft({ assumed_providers: assumed }));
    expect(codeOf(answer)).toEqual(REFUSED);
    expect(answer.body.error.message).toMatch(new RegExp(`^${path}`));
  });

  it('in a creation → not a known member', async () => {
    expect(codeOf(await world.api.post('/v1/admin/apps', draft({ assumed_providers: [] })))).toEqual(REFUSED);
  });
});

describe('?include=config', () => {
  it('→ the configuration as it is stored by a creation', async () => {
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    const { body } = await world.api.post(`${VALIDATE}?include=config`, { name: 'Notes', config });
    const { app } = (await world.api.post('/v1/admin/apps', { name: 'Notes', config })).body;
    expect(body).toEqual({ valid: true, config: app.config });
    const again = await world.api.post(`/v1/admin/apps/${app.id}/validate?include=config`, { name: 'Notes', config });
    expect(again.body).toEqual({ valid: true, app_id: app.id, config: app.config });
  });

  it.each([['include=all'], ['include='], ['exclude=config']])('?%s → 400', async (query) => {
    expect(codeOf(await world.api.post(`${VALIDATE}?${query}`, draft()))).toEqual(REFUSED);
  });
});
