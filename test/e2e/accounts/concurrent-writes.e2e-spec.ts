import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { ProviderDirectory, providersChange } from '../../../src/providers/provider-directory.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

const PROVIDERS = '/v1/admin/providers';
const GATEWAYS = '/v1/admin/provider-gateways';
const WRITES = 48;
const PATIENCE_MS = 60_000;

describeWithRedis('dozens of writes without a revision, on two instances', () => {
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let world: World;
  let other: FurtherInstance;
  let created = 0;

  beforeAll(async () => {
    redis = await reachRedis();
    world = await startWorld({ env: { REDIS_URL: redis.url } });
    other = await startFurtherInstance(world);
  });
  afterAll(async () => {
    await other?.stop();
    await world?.stop();
    await redis?.stop();
  });

  const newProvider = async () => {
    const slug = `openai-${++created}`;
    const body = { type: 'openai', slug, name: 'First', secret: 'sk-the-first-key' };
    return (await world.api.post(PROVIDERS, body)).body.provider as { id: string; slug: string };
  };
  const providerOf = async (id: string) =>
    (await world.api.get(PROVIDERS)).body.providers.find((provider: { id: string }) => provider.id === id);

  /** All at once, every second one at the other instance. */
  const atOnce = (method: string, path: string, bodyOf: (index: number) => object): Promise<ApiAnswer[]> => {
    const clients = [world.api, other.as(world.managementKey)];
    const calls = Array.from({ length: WRITES }, (_, index) => ({ client: clients[index % 2], body: bodyOf(index) }));
    return Promise.all(calls.map(({ client = world.api, body }) => client.send(method, path, body, {})));
  };
  const statusesOf = (answers: readonly ApiAnswer[]) => [...new Set(answers.map(({ status }) => status))];

  it(
    'a provider: names, prices, pauses and keys → all 200, one revision each, none lost',
    async () => {
      const { id } = await newProvider();
      const changes = (index: number) => [
        { name: `Name ${index}` },
        { pricing: { [`model-${index}`]: { input: 1, output: 2 } } },
        { status: 'disabled' },
        { secret: `sk-a-key-of-number-${1000 + index}` },
      ];
      const answers = await atOnce('PUT', `${PROVIDERS}/${id}`, (index) => changes(index)[index % 4] ?? {});
      expect(statusesOf(answers)).toEqual([200]);
      expect(new Set(answers.map(({ body }) => body.provider.revision)).size).toBe(WRITES);
      const provider = await providerOf(id);
      expect(provider).toMatchObject({
        revision: WRITES + 1,
        status: 'disabled',
        name: expect.stringMatching(/^Name /),
      });
      expect(Object.keys(provider.pricing)).toHaveLength(1);
      expect(provider.secretHint).toMatch(/^10\d\d$/);
    },
    PATIENCE_MS,
  );

  it(
    'a provider: keys, moves and returns → all 200, and the final key opens for the final address',
    async () => {
      const { id, slug } = await newProvider();
      const changes = (index: number) => [
        { secret: `sk-stays-${1000 + index}` },
        { secret: `sk-moves-${1000 + index}`, baseUrl: `https://host-${index}.example.com/` },
        { baseUrl: null },
        { name: `Name ${index}` },
      ];
      const answers = await atOnce('PUT', `${PROVIDERS}/${id}`, (index) => changes(index)[index % 4] ?? {});
      expect(statusesOf(answers)).toEqual([200]);
      const provider = await providerOf(id);
      const organizationId = await firstOrganizationId(world.dataSource);
      const directory = world.gateway.app.get(ProviderDirectory);
      world.gateway.app.get(ConfigChanges).applyHere(providersChange(organizationId));
      const instance = (await directory.forOrganization(organizationId)).find(slug);
      const [, bearer] = (await instance?.credentialHeaders()) ?? [];
      expect(bearer).toMatch(new RegExp(`^Bearer sk-.*${provider.secretHint}$`));
      expect(`${instance?.baseUrl.origin}/`).toBe(provider.baseUrl ?? 'https://api.openai.com/');
    },
    PATIENCE_MS,
  );

  it(
    'a provider gateway: names and tokens → all 200, one revision each',
    async () => {
      const made = await world.api.post(GATEWAYS, { type: 'vercel', name: 'First', token: 'the-first-token' });
      const path = `${GATEWAYS}/${made.body.gateway.id}`;
      const renamed = atOnce('PATCH', path, (index) => ({ name: `Name ${index}` }));
      const rotated = atOnce('POST', `${path}/rotate`, (index) => ({ token: `token-number-${1000 + index}` }));
      expect(statusesOf([...(await renamed), ...(await rotated)])).toEqual([200]);
      const [gateway] = (await world.api.get(GATEWAYS)).body.gateways;
      expect(gateway).toMatchObject({ revision: 2 * WRITES + 1, secretHint: expect.stringMatching(/^10\d\d$/) });
    },
    PATIENCE_MS,
  );

  it(
    'an organization: names → all 200',
    async () => {
      const organizationId = await firstOrganizationId(world.dataSource);
      const path = `/v1/admin/organizations/${organizationId}`;
      expect(statusesOf(await atOnce('PATCH', path, (index) => ({ name: `Name ${index}` })))).toEqual([200]);
    },
    PATIENCE_MS,
  );

  it(
    'deleted meanwhile → 200 before, 404 afterwards, never 409',
    async () => {
      const { id } = await newProvider();
      const writes = atOnce('PUT', `${PROVIDERS}/${id}`, (index) => ({ secret: `sk-a-key-of-number-${1000 + index}` }));
      expect((await world.api.delete(`${PROVIDERS}/${id}`)).status).toBe(200);
      expect([[404], [200, 404], [404, 200], [200]]).toContainEqual(statusesOf(await writes));
    },
    PATIENCE_MS,
  );
});
