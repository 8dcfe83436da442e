import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { codeOf } from '../../support/api-client.js';
import { rawIssuer } from '../../support/apps/app-configs.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
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
  it('a provider that does not exist yet → refused without the assumption, accepted with it', async () => {
    expect(codeOf(await world.api.post(VALIDATE, draft()))).toEqual(REFUSED);
    const answer = await world.api.post(VALIDATE, draft({ assumed_providers: [OPENAI] }));
    expect([answer.status, answer.body]).toEqual([200, { valid: true }]);
    expect((await world.api.get('/v1/admin/providers')).body.providers).toEqual([]);
  });

  it('custom prices of an assumed provider → replace the stored ones', async () => {
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

  it('in a creation → unknown field', async () => {
    expect(codeOf(await world.api.post('/v1/admin/apps', draft({ assumed_providers: [] })))).toEqual(REFUSED);
  });
});

describe('?include=config', () => {
  it('→ the stored configuration, as in a creation', async () => {
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

describe('placeholders of an identity provider’s settings', () => {
  const KEYS = 'https://{ref}.supabase.co/auth/v1/.well-known/jwks.json';
  const signedIn = (issuer: object) => ({
    authentication: { type: 'api_key', end_user: { source: 'issuer', issuer: { ...rawIssuer(), ...issuer } } },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
  });
  const PROBLEM = 'must not have braces: put your own value in place of the placeholder';
  const at = (member: string) => `config.authentication.end_user.issuer.${member}: ${PROBLEM}`;

  it.each([
    ['jwks_url', { jwks_url: KEYS }],
    ['issuer.0', { issuer: ['https://{ref}.supabase.co/auth/v1'] }],
    ['audience', { audience: '{project}' }],
  ])('%s → refused by each route that writes or validates, and nothing is stored', async (member, issuer) => {
    const { id } = await world.app(signedIn({}));
    const { revision } = (await world.api.get(`/v1/admin/apps/${id}`)).body.app;
    const body = { name: 'Notes', config: signedIn(issuer) };
    const answers = [
      await world.api.post('/v1/admin/apps', body),
      await world.api.post(VALIDATE, body),
      await world.api.post(`/v1/admin/apps/${id}/validate`, { ...body, revision }),
      await world.api.put(`/v1/admin/apps/${id}`, { ...body, revision }),
    ];
    expect(answers.map((answer) => answer.body.error?.message)).toEqual(answers.map(() => at(member)));
    const client = await McpTestClient.connect(world.baseUrl, world.managementKey);
    expect((await client.call('validate_app', { app: id, config: { ...body, revision } })).text).toContain(PROBLEM);
    expect((await world.api.get(`/v1/admin/apps/${id}`)).body.app.revision).toBe(revision);
  });

  it('stored by an earlier version → still read and served, and the check names it', async () => {
    const { id } = await world.app(signedIn({}));
    await world.dataSource.query(
      "UPDATE apps SET config = jsonb_set(config::jsonb, '{authentication,end_user,issuer,jwks_url}', to_jsonb($2::text))::json WHERE id = $1",
      [id, KEYS],
    );
    const { config_error: problem, app } = (await world.api.get(`/v1/admin/apps/${id}`)).body;
    expect([problem, app.config.authentication.end_user.issuer.jwks_url]).toEqual([
      null,
      expect.stringContaining('ref'),
    ]);
    const check = await world.api.get(`/v1/admin/apps/${id}/check`);
    expect([check.status, check.body.error.message]).toEqual([400, at('jwks_url')]);
  });
});
