import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { eventually } from '../../../support/eventually.js';

let world: MobileWorld;
let slug: string;

beforeAll(async () => {
  world = await startMobileWorld();
  ({ slug } = await world.provider());
});

afterAll(() => world.stop());

const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] };

/** Calls the scripted provider with a gateway token. */
function chat(appId: string, token: string, version = '1.2.3') {
  return fetch(`${world.baseUrl}/v1/apps/${appId}/proxy/${slug}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-app-version': version, 'content-type': 'application/json' },
    body: JSON.stringify(CHAT),
  });
}

/** The one recorded call of an application. */
async function recorded(appId: string) {
  const list = async () => (await world.api.get(`/v1/admin/apps/${appId}/events`)).body.events;
  await eventually(async () => (await list()).length > 0, { withinMs: 10_000 });
  const events = await list();
  expect(events).toHaveLength(1);
  return events[0];
}

describe('a phone signs in and calls a model', () => {
  it('app_install: register, exchange, call → served, recorded for the install', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    const registered = await phone.register();
    expect([registered.status, registered.body]).toEqual([200, { user_id: phone.keyId }]);
    const exchanged = await phone.exchange();
    expect([exchanged.status, exchanged.body]).toEqual([200, { access_token: expect.any(String), expires_in: 3600 }]);
    expect((await chat(app.id, exchanged.body.access_token)).status).toBe(200);
    expect(await recorded(app.id)).toMatchObject({
      user_id: phone.keyId,
      api_key_id: null,
      auth_method: 'attest',
      app_version: '1.2.3',
    });
  });

  it('issuer: register, exchange, call → served, recorded for the signed-in user', async () => {
    const app = await world.deviceApp('issuer');
    const phone = world.phone(app);
    const token = await phone.signIn(await world.issuer.token({ sub: 'person-1' }));
    expect((await chat(app.id, token)).status).toBe(200);
    expect(await recorded(app.id)).toMatchObject({ user_id: 'person-1', auth_method: 'attest' });
    const me = await world.as(token).get(`/v1/apps/${app.id}/me`);
    expect([me.status, me.body.user_id]).toEqual([200, 'person-1']);
  });

  it('a backend exchanges its key and a token of its user → served', async () => {
    const app = await world.backendApp();
    const body = { api_key: app.key, issuer_token: await world.issuer.token({ sub: 'person-2' }) };
    const answer = await world.as(undefined).post(`/v1/apps/${app.id}/auth/token`, body);
    expect([answer.status, answer.body.expires_in]).toEqual([200, 3600]);
    expect((await chat(app.id, answer.body.access_token)).status).toBe(200);
    const [key] = (await world.api.get(`/v1/admin/apps/${app.id}/keys`)).body.keys;
    expect(await recorded(app.id)).toMatchObject({
      user_id: 'person-2',
      api_key_id: key.id,
      auth_method: 'api_key',
    });
  });

  it('the official SDK with the token in place of a key → served, and the token is not forwarded', async () => {
    const app = await world.deviceApp('app_install');
    const apiKey = await world.phone(app).signIn();
    const baseURL = `${world.baseUrl}/v1/apps/${app.id}/proxy/${slug}/v1`;
    const defaultHeaders = { 'X-App-Version': '1.4.0' };
    const client = new OpenAI({ baseURL, apiKey, defaultHeaders, maxRetries: 0 });
    world.upstream.forget();
    const { id } = await client.chat.completions.create({ ...CHAT, messages: [{ role: 'user', content: 'Hello' }] });
    expect(id).toBe('chatcmpl-scripted');
    const [request] = world.upstream.requests;
    expect(request?.header('authorization')).toBe('Bearer sk-test-provider-secret');
    expect(JSON.stringify(request?.rawHeaders)).not.toContain(apiKey);
    expect(request?.header('x-app-version')).toBeUndefined();
  });
});
