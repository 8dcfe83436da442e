import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startWorld, type World } from '../../support/world.js';

describe('health and discovery', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.stop());

  it('healthz → 200 with the vault’s state, never cached', async () => {
    const answer = await request(world.baseUrl).get('/v1/healthz').expect(200).expect('cache-control', 'no-store');
    expect(answer.body).toEqual({ ok: true, service: 'gateway', vault: 'ok' });
  });

  it('readyz → 200 with the state of every dependency', async () => {
    const answer = await request(world.baseUrl).get('/v1/readyz').expect(200);
    expect(answer.body).toMatchObject({ ready: true, database: 'ok', vault: 'ok', journal: 'ok' });
  });

  it('openapi.json → OpenAPI 3.1.0, version 0.1.0', async () => {
    const answer = await request(world.baseUrl).get('/openapi.json').expect(200).expect('content-type', /json/);
    expect(answer.body).toMatchObject({ openapi: '3.1.0', info: { version: '0.1.0' } });
  });

  it.each([
    ['GET', '/nowhere'],
    ['PUT', '/v1/healthz'],
    ['POST', '/v1/admin'],
    ['DELETE', '/v1/apps/x'],
  ])('%s %s → 404 invalid_request in our envelope', async (method, path) => {
    const send = request(world.baseUrl)[method.toLowerCase() as 'get' | 'put' | 'post' | 'delete'](path);
    const answer = await send.expect(404).expect('content-type', 'application/json; charset=UTF-8');
    expect(answer.body).toEqual({ error: { code: 'invalid_request', message: 'Route not found' } });
  });
});

describe('misconfigured vault', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ env: { SECRET_VAULT_LOCAL_KEK_V1: 'c2hvcnQ=' } });
  });
  afterAll(() => world?.stop());

  it('healthz → still 200 and ok, vault misconfigured', async () => {
    const answer = await request(world.baseUrl).get('/v1/healthz').expect(200);
    expect(answer.body).toEqual({ ok: true, service: 'gateway', vault: 'misconfigured' });
  });

  it('readyz → 503 with the same body', async () => {
    const answer = await request(world.baseUrl).get('/v1/readyz').expect(503);
    expect(answer.body).toMatchObject({ ready: false, vault: 'misconfigured', database: 'ok' });
  });

  it('log → one line that names the variable and not its value', () => {
    const lines = world.logs.filter((line) => line.message === 'secret_vault_misconfigured');
    expect(lines).toHaveLength(1);
    expect(String(lines[0]?.error)).toContain('SECRET_VAULT_LOCAL_KEK_V1');
    expect(JSON.stringify(lines)).not.toContain('c2hvcnQ=');
  });

  it('saving a provider key → 502 provider_unavailable; requests that need no key work', async () => {
    const body = { type: 'openai', name: 'P', secret: 'sk-1234567890' };
    expect(await world.api.post('/v1/admin/providers', body)).toMatchObject({
      status: 502,
      body: { error: { code: 'provider_unavailable' } },
    });
    expect((await world.app()).id).toMatch(/^test-app-/);
  });
});
