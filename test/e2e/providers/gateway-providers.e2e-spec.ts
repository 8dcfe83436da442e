import { describe, expect, it } from '@jest/globals';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { ProviderDirectory, providersChange } from '../../../src/providers/provider-directory.js';
import { PROVIDER_TYPES } from '../../../src/upstreams/provider-types.js';
import { newAccount } from '../../support/accounts/accounts.js';
import { codeOf } from '../../support/api-client.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { gatewaySuite } from '../../support/upstream-gateway-world.js';

const PATH = '/v1/admin/providers';
const GATEWAYS = '/v1/admin/provider-gateways';
const KEY = 'sk-the-very-secret-key-7777';
const CF_TYPES = ['openai', 'anthropic', 'xai', 'gemini', 'perplexity'];
const VERCEL_TYPES = ['openai', 'anthropic', 'gemini', 'xai', 'perplexity', 'deepseek', 'moonshot'];
const UNKNOWN_ID = 'c0ffee00-0000-4000-8000-000000000000';

const suite = gatewaySuite();

describe('POST providers with a gateway', () => {
  it('cf_aig → 201: no key, no address, but the route and what the type serves on it', async () => {
    const answer = await suite.create({ providerGatewayId: suite.cf, pricing: { m: { input: 1, output: 2 } } });
    expect(answer.status).toBe(201);
    expect(answer.body.provider).toMatchObject({
      type: 'openai',
      slug: 'openai',
      secretHint: null,
      providerGatewayId: suite.cf,
      gatewayRoute: null,
      baseUrl: null,
      pricing: { m: { input: 1, output: 2 } },
      route: 'cf_aig',
      capability: { endpointStyles: ['responses', 'transcription'], modelPrefix: null, paths: 'provider' },
      revision: 1,
      status: 'active',
    });
    expect(answer.body.provider.capability.apiStyles).toHaveLength(7);
    expect((await suite.stage.world.api.get(PATH)).body.providers).toEqual([answer.body.provider]);
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it('vercel → its styles, the namespace of the type or of the instance, options kept exactly', async () => {
    const plain = await suite.created({ providerGatewayId: suite.vercel, type: 'gemini' });
    expect(plain).toMatchObject({
      route: 'vercel',
      gatewayRoute: null,
      capability: {
        apiStyles: ['responses', 'chat_completions', 'anthropic_messages'],
        endpointStyles: [],
        modelPrefix: 'google/',
        paths: 'gateway',
      },
    });
    const gatewayRoute = { modelPrefix: 'own/', providerOnly: ['azure', 'openai'] };
    const set = await suite.created({ providerGatewayId: suite.vercel, slug: 'second', gatewayRoute });
    expect(set).toMatchObject({ gatewayRoute, capability: { endpointStyles: ['responses'], modelPrefix: 'own/' } });
  });

  it('every type → accepted on exactly the gateways that serve it', async () => {
    for (const [id, served] of [
      [suite.cf, CF_TYPES],
      [suite.vercel, VERCEL_TYPES],
    ] as const) {
      for (const type of PROVIDER_TYPES) {
        const slug = `via-${type}`;
        const answers = [
          await suite.create({ type, slug, providerGatewayId: id }),
          await suite.stage.world.api.post(`${PATH}/test`, { type, providerGatewayId: id }),
        ];
        const refused = answers.filter(({ status }) => status === 400);
        expect(refused).toHaveLength(served.includes(type) ? 0 : 2);
        for (const answer of refused) expect(codeOf(answer)).toEqual([400, 'provider_not_supported_by_gateway']);
      }
      await suite.stage.world.dataSource.query('DELETE FROM providers');
    }
  });

  it('unknown, another account’s and revoked gateway → the same 404, in create and test', async () => {
    const other = suite.stage.world.as((await newAccount(suite.stage.world.dataSource)).key);
    const foreign = await suite.stage.gateway('vercel', other);
    await suite.stage.world.dataSource.query("UPDATE provider_gateways SET status = 'revoked' WHERE id = $1", [
      suite.cf,
    ]);
    for (const providerGatewayId of [UNKNOWN_ID, foreign, suite.cf]) {
      const answers = [
        await suite.create({ providerGatewayId }),
        await suite.stage.world.api.post(`${PATH}/test`, { type: 'openai', providerGatewayId }),
      ];
      for (const answer of answers) {
        expect(answer.body).toEqual({ error: { code: 'not_found', message: 'Provider gateway not found.' } });
        expect(answer.status).toBe(404);
      }
    }
    expect((await suite.stage.world.api.get(PATH)).body.providers).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a key beside the gateway', { secret: KEY }, 'secret: '],
    ['an address', { baseUrl: 'https://ai.example.com/' }, 'baseUrl: '],
    ['options that are none', { gatewayRoute: { order: ['a'] } }, 'gatewayRoute.order: is not a known member'],
    ['a prefix without its slash', { gatewayRoute: { modelPrefix: 'own' } }, 'gatewayRoute.modelPrefix: must end'],
    [
      'a prefix of 101 characters',
      { gatewayRoute: { modelPrefix: `${'p'.repeat(100)}/` } },
      'gatewayRoute.modelPrefix: ',
    ],
    ['no serving provider', { gatewayRoute: { providerOnly: [] } }, 'gatewayRoute.providerOnly: '],
    ['21 serving providers', { gatewayRoute: { providerOnly: Array(21).fill('a') } }, 'gatewayRoute.providerOnly: '],
    ['a serving provider without a name', { gatewayRoute: { providerOnly: [''] } }, 'gatewayRoute.providerOnly.0: '],
    ['options that are a list', { gatewayRoute: [] }, 'gatewayRoute: '],
    ['null options', { gatewayRoute: null }, 'gatewayRoute: '],
  ])('%s → 400 naming the path', async (_what, members, message) => {
    const answer = await suite.create({ providerGatewayId: suite.vercel, ...members });
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message.startsWith(message)).toBe(true);
    expect((await suite.stage.world.api.get(PATH)).body.providers).toEqual([]);
  });

  it.each([{}, { modelPrefix: 'own/' }])(
    'options %j on cf_aig or a direct instance → 400 at gatewayRoute',
    async (gatewayRoute) => {
      for (const way of [{ providerGatewayId: suite.cf }, { secret: KEY }]) {
        const answer = await suite.create({ ...way, gatewayRoute });
        expect(codeOf(answer)).toEqual([400, 'invalid_request']);
        expect(answer.body.error.message).toMatch(/^gatewayRoute: /);
      }
    },
  );

  it('several errors → reported in the documented order: body, slug, gateway, type, options', async () => {
    await suite.created({ secret: KEY });
    const faults = { providerGatewayId: UNKNOWN_ID, gatewayRoute: {} };
    expect(codeOf(await suite.create({ ...faults, slug: 'gemini' }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await suite.create(faults))).toEqual([409, 'slug_taken']);
    expect(codeOf(await suite.create({ ...faults, slug: 'free' }))).toEqual([404, 'not_found']);
    const unserved = { ...faults, type: 'groq', providerGatewayId: suite.cf };
    expect(codeOf(await suite.create(unserved))).toEqual([400, 'provider_not_supported_by_gateway']);
    expect(codeOf(await suite.create({ ...faults, slug: 'free', providerGatewayId: suite.cf }))).toEqual([
      400,
      'invalid_request',
    ]);
  });

  it('race: gateway deleted while instances are created → every answer a documented one, no instance without gateway', async () => {
    for (let round = 0; round < 10; round++) {
      const doomed = await suite.stage.gateway('vercel');
      const [made, deleted] = await Promise.all([
        suite.create({ slug: `race-${round}`, providerGatewayId: doomed }),
        suite.stage.world.api.delete(`${GATEWAYS}/${doomed}`),
      ]);
      expect([201, 404]).toContain(made.status);
      expect(codeOf(deleted)).toEqual(made.status === 201 ? [409, 'gateway_in_use'] : [200, undefined]);
    }
  });

  it('race: gateway deleted between lookup and insert → 404, and no 500 for other requests', async () => {
    // The look-up is answered by a row that another transaction has deleted and not yet committed.
    const doomed = await suite.stage.gateway('vercel');
    const deleting = suite.stage.world.dataSource.createQueryRunner();
    await deleting.startTransaction();
    await deleting.query('DELETE FROM provider_gateways WHERE id = $1', [doomed]);
    const waiting = suite.create({ slug: 'late', providerGatewayId: doomed });
    await untilStatementWaits(suite.stage.world.dataSource);
    await deleting.commitTransaction();
    await deleting.release();
    expect(codeOf(await waiting)).toEqual([404, 'not_found']);
  });
});

describe('PUT providers/{id} behind a gateway', () => {
  const update = (id: string, body: object) => suite.stage.world.api.put(`${PATH}/${id}`, body);

  it('options → replaced as a whole; null clears them; other changes keep them', async () => {
    const { id } = await suite.created({ providerGatewayId: suite.vercel, gatewayRoute: { modelPrefix: 'a/' } });
    const replaced = await update(id, { gatewayRoute: { providerOnly: ['azure'] } });
    expect(replaced.body.provider).toMatchObject({
      gatewayRoute: { providerOnly: ['azure'] },
      capability: { modelPrefix: 'openai/' },
      revision: 2,
    });
    const renamed = await update(id, { name: 'Two', status: 'disabled', pricing: { m: { input: 1, output: 1 } } });
    expect(renamed.body.provider).toMatchObject({
      name: 'Two',
      status: 'disabled',
      gatewayRoute: { providerOnly: ['azure'] },
      providerGatewayId: suite.vercel,
      secretHint: null,
    });
    expect((await update(id, { gatewayRoute: null })).body.provider.gatewayRoute).toBeNull();
  });

  it.each<[string, object, number, string, RegExp]>([
    [
      'an address with a key',
      { baseUrl: 'https://ai.example.com/', secret: KEY },
      400,
      'invalid_request',
      /^baseUrl: /,
    ],
    ['the address of the type', { baseUrl: null }, 400, 'invalid_request', /^baseUrl: /],
    ['a key', { secret: KEY }, 409, 'provider_gateway_managed', /gateway/],
    ['unknown options', { gatewayRoute: { order: [] } }, 400, 'invalid_request', /^gatewayRoute\.order: /],
    ['a stale revision beside a key', { secret: KEY, revision: 9 }, 409, 'conflict', /changed/],
  ])('%s → refused, nothing changes', async (_what, body, status, code, message) => {
    const before = await suite.created({ providerGatewayId: suite.vercel });
    const answer = await update(before.id, body);
    expect(codeOf(answer)).toEqual([status, code]);
    expect(answer.body.error.message).toMatch(message);
    expect((await suite.stage.world.api.get(PATH)).body.providers).toEqual([before]);
  });

  it('options on cf_aig → 400 at gatewayRoute; null is accepted', async () => {
    const { id } = await suite.created({ providerGatewayId: suite.cf });
    const answer = await update(id, { gatewayRoute: { modelPrefix: 'a/' } });
    expect(answer.body.error.message).toMatch(/^gatewayRoute: /);
    expect((await update(id, { gatewayRoute: null })).status).toBe(200);
  });
});

describe('use of gateways', () => {
  it('counts of a gateway → active and all of its instances; deleting the last one frees it', async () => {
    const first = await suite.created({ providerGatewayId: suite.cf, slug: 'a' });
    const second = await suite.created({ providerGatewayId: suite.cf, slug: 'b' });
    await suite.stage.world.api.put(`${PATH}/${second.id}`, { status: 'disabled' });
    const { gateways } = (await suite.stage.world.api.get(GATEWAYS)).body;
    const counts = gateways.map((one: Record<string, unknown>) => [one.id, one.providerCount, one.referencedCount]);
    expect(counts).toEqual(
      expect.arrayContaining([
        [suite.cf, 1, 2],
        [suite.vercel, 0, 0],
      ]),
    );
    expect(codeOf(await suite.stage.world.api.delete(`${GATEWAYS}/${suite.cf}`))).toEqual([409, 'gateway_in_use']);
    for (const { id } of [first, second]) await suite.stage.world.api.delete(`${PATH}/${id}`);
    expect((await suite.stage.world.api.delete(`${GATEWAYS}/${suite.cf}`)).status).toBe(200);
  });

  it('gateway of a kind that this version does not know → listed without a route; only its instances fail', async () => {
    await suite.created({ providerGatewayId: suite.cf });
    await suite.created({ slug: 'direct', secret: KEY });
    await suite.stage.world.dataSource.query("UPDATE provider_gateways SET type = 'future' WHERE id = $1", [suite.cf]);
    const { providers } = (await suite.stage.world.api.get(PATH)).body;
    expect(providers[0]).toMatchObject({ route: null, capability: { apiStyles: [], endpointStyles: [] } });
    const [{ organization_id: account }] = await suite.stage.world.dataSource.query(
      'SELECT organization_id FROM provider_gateways',
    );
    const { app } = suite.stage.world.gateway;
    const directory = app.get(ProviderDirectory);
    app.get(ConfigChanges).applyHere(providersChange(account));
    const set = await directory.forOrganization(account);
    await expect(set.find('openai')?.credentialHeaders()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(await set.find('direct')?.credentialHeaders()).toEqual(['authorization', `Bearer ${KEY}`]);
  });
});
