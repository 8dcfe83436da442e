import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { type ApiAnswer, type ApiClient, codeOf } from '../../support/api-client.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { Terminal } from '../../support/cli/terminal.js';
import { startWorld, type World } from '../../support/world.js';

const APPS = '/v1/admin/apps';
const TAKEN = [409, 'handle_taken'];
const REFUSED = [400, 'invalid_request'];
let world: World;
let last = 0;

beforeAll(async () => {
  world = await startWorld();
  await addProviders(world.api);
});

afterAll(() => world.stop());

async function addProviders(api: ApiClient): Promise<void> {
  for (const slug of ['openai', 'openai-backup']) {
    const answer = await api.post('/v1/admin/providers', {
      type: 'openai',
      name: slug,
      slug,
      secret: 'sk-of-a-provider',
    });
    expect(answer.status).toBe(201);
  }
}

const newHandle = () => `handle-${++last}`;
const body = (members: object = {}) => ({ name: 'Notes', config: rawServerConfig(), ...members });
const create = (members: object = {}, api = world.api) => api.post(APPS, body(members));

async function created(members: object = {}): Promise<string> {
  const answer = await create(members);
  expect(answer.status).toBe(201);
  return answer.body.app.id;
}

const replace = (id: string, members: object = {}, revision = 1) =>
  world.api.put(`${APPS}/${id}`, body({ revision, ...members }));
const handleOf = async (id: string) => (await world.api.get(`${APPS}/${id}`)).body.app.handle;
const statuses = (answers: readonly ApiAnswer[]) => answers.map(({ status }) => status).sort();

describe('the handle of an application', () => {
  it.each([['a'], ['0'], ['notes-2'], ['a-'], ['x'.repeat(63)]])(
    '%j → in the answers of creation, read and list',
    async (handle) => {
      const answer = await create({ handle });
      expect(answer.body.app.handle).toBe(handle);
      expect(await handleOf(answer.body.app.id)).toBe(handle);
      const { apps } = (await world.api.get(APPS)).body;
      expect(apps).toContainEqual(expect.objectContaining({ id: answer.body.app.id, handle }));
    },
  );

  it.each([[''], ['-a'], ['A'], ['a_b'], ['a b'], ['ä'], ['x'.repeat(64)], [7], [['a']], [{}]])(
    '%j → 400 that names it, on every write',
    async (handle) => {
      const id = await created();
      for (const answer of [
        await create({ handle }),
        await replace(id, { handle }),
        await world.api.post(`${APPS}/${id}/validate`, body({ handle })),
        await world.api.post(`${APPS}/validate`, body({ handle })),
      ]) {
        expect(codeOf(answer)).toEqual(REFUSED);
        expect(answer.body.error.message).toMatch(/^handle: /);
      }
    },
  );

  it('absent or null at the creation → null', async () => {
    expect(await handleOf(await created())).toBeNull();
    expect(await handleOf(await created({ handle: null }))).toBeNull();
  });

  it('replaced: absent keeps it, another replaces it, null removes and frees it', async () => {
    const [first, second] = [newHandle(), newHandle()];
    const id = await created({ handle: first });
    expect((await replace(id, { name: 'New' })).body.app.handle).toBe(first);
    expect((await replace(id, { handle: second }, 2)).body.app.handle).toBe(second);
    expect((await replace(id, { handle: null }, 3)).body.app.handle).toBeNull();
    await created({ handle: first });
    await created({ handle: second });
  });

  it('its own handle again → accepted', async () => {
    const handle = newHandle();
    const id = await created({ handle });
    expect((await replace(id, { handle })).status).toBe(200);
    expect((await world.api.post(`${APPS}/${id}/validate`, body({ handle }))).status).toBe(200);
  });

  it('the handle of another application → 409 that says so, on every write, and nothing is written', async () => {
    const handle = newHandle();
    await created({ handle });
    const id = await created();
    for (const answer of [
      await create({ handle }),
      await replace(id, { handle, name: 'Lost' }),
      await world.api.post(`${APPS}/${id}/validate`, body({ handle })),
      await world.api.post(`${APPS}/validate`, body({ handle })),
    ]) {
      expect(codeOf(answer)).toEqual(TAKEN);
      expect(answer.body.error.message).toBe(
        `handle: "${handle}" is already used by another application; choose another handle.`,
      );
    }
    expect((await world.api.get(`${APPS}/${id}`)).body.app).toMatchObject({ name: 'Notes', handle: null, revision: 1 });
  });

  it('of another account → available', async () => {
    const handle = newHandle();
    await created({ handle });
    const other = world.as((await newAccount(world.dataSource)).key);
    await addProviders(other);
    expect((await create({ handle }, other)).body.app.handle).toBe(handle);
  });

  it('of a deleted application → available', async () => {
    const handle = newHandle();
    const id = await created({ handle });
    await world.api.delete(`${APPS}/${id}?confirm=${id}`);
    expect(await created({ handle })).not.toBe(id);
  });

  it('searching the list by handle → finds it', async () => {
    const handle = newHandle();
    const id = await created({ handle });
    const { apps } = (await world.api.get(`${APPS}?query=${handle.toUpperCase()}`)).body;
    expect(apps.map((app: { id: string }) => app.id)).toEqual([id]);
  });
});

describe('concurrent writes', () => {
  it('of the same handle → one creation, the others 409', async () => {
    const handle = newHandle();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ handle })));
    expect(statuses(answers)).toEqual([201, ...Array(7).fill(409)]);
    expect(answers.filter(({ status }) => status === 409).map(codeOf)).toEqual(Array(7).fill(TAKEN));
  });

  it('of the same handle by replacements → one is written, the others 409', async () => {
    const handle = newHandle();
    const ids = await Promise.all(Array.from({ length: 6 }, () => created()));
    const answers = await Promise.all(ids.map((id) => replace(id, { handle })));
    expect(statuses(answers)).toEqual([200, ...Array(5).fill(409)]);
    expect(answers.filter(({ status }) => status === 409).map(codeOf)).toEqual(Array(5).fill(TAKEN));
  });

  it('of the same terminal operation → each answer has the same application', async () => {
    const { key } = await newAccount(world.dataSource);
    await addProviders(world.as(key));
    for (let round = 0; round < 5; round++) {
      const terminal = new Terminal(world);
      const payload = body({ handle: newHandle() });
      const run = () => terminal.operate(key, 'app.add', payload);
      const answers = [...(await Promise.all([run(), run(), run(), run()])), await run()];
      expect(statuses(answers)).toEqual([200, 200, 200, 200, 200]);
      expect(new Set(answers.map((answer) => answer.body.result.app.id)).size).toBe(1);
    }
  });

  it('with the same idempotency key → each answer has the same application', async () => {
    const payload = body({ handle: newHandle() });
    const headers = { 'idempotency-key': `handles-${'k'.repeat(32)}`, 'x-idempotency-proof': 'p'.repeat(43) };
    const answers = await Promise.all(Array.from({ length: 6 }, () => world.api.post(APPS, payload, { headers })));
    expect(statuses(answers)).toEqual(Array(6).fill(201));
    expect(new Set(answers.map((answer) => answer.body.app.id)).size).toBe(1);
  });
});
