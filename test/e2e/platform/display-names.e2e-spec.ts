import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../support/api-client.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { type ChangeClient, newChangeClient } from '../../support/mcp/change-client.js';
import { browserOf, newSignUp, signUpAt, startConsoleWorld } from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

const PROBLEM = 'must not have control, direction or invisible characters';
/** One of each kind, in the middle of a name: the ends are trimmed. */
const MISLEADING = ['a\nb', 'a\u0085b', 'a\u202eb', 'a\u2066b', 'a\u200bb', 'a\u2060b', 'a\ufeffb'];
const JOINED = 'Família 👩\u200d👧 می\u200cخواهم';
const SECRET = 'sk-1234567890-1234567890';
const GATEWAY = { type: 'vercel', token: SECRET };

let world: World;
let client: ChangeClient;
let appId: string;
let providerId: string;
let gatewayId: string;
let slugs = 0;

beforeAll(async () => {
  world = await startConsoleWorld({ env: { ALLOW_ADDITIONAL_REGISTRATIONS: 'true' } });
  client = await newChangeClient(world);
  const { owner } = client;
  appId = (await owner.client.post('/v1/admin/apps', { name: 'A', config: rawServerConfig() })).body.app.id;
  providerId = (await owner.client.post('/v1/admin/providers', { type: 'xai', name: 'X', secret: SECRET })).body
    .provider.id;
  gatewayId = (await owner.client.post('/v1/admin/provider-gateways', { ...GATEWAY, name: 'G' })).body.gateway.id;
});
afterAll(() => world.stop());

const owner = () => client.owner.client;
const slug = () => `named-${++slugs}`;
const ofApp = (name: string) => ({ name, config: rawServerConfig() });
const operation = (kind: string, payload: object, members: object = {}) =>
  new Terminal(world).operate(client.key, kind, payload, members);

async function newLogin(): Promise<{ readonly id: string; readonly proof: string }> {
  const answer = await new Terminal(world, `198.51.100.${++slugs % 250}`).open();
  return { id: answer.body.id, proof: proofIn(answer) };
}

async function tool(name: string, args: Record<string, unknown>): Promise<ApiAnswer> {
  const { isError, body } = await client.mcp.call(name, args);
  const error = { code: body.error, message: body.message };
  return { status: isError ? body.status : 200, body: isError ? { error } : body } as ApiAnswer;
}

/** Every way to write a name, with the member that a refusal names. */
const WAYS: readonly [way: string, member: string, write: (name: string) => Promise<ApiAnswer>][] = [
  ['POST apps', 'name', (name) => owner().post('/v1/admin/apps', ofApp(name))],
  ['POST apps/{app}/validate', 'name', (name) => owner().post(`/v1/admin/apps/${appId}/validate`, ofApp(name))],
  [
    'PUT apps/{app}',
    'name',
    async (name) => {
      const { revision } = (await owner().get(`/v1/admin/apps/${appId}`)).body.app;
      return owner().put(`/v1/admin/apps/${appId}`, { ...ofApp(name), revision });
    },
  ],
  ['POST apps/{app}/keys', 'name', (name) => owner().post(`/v1/admin/apps/${appId}/keys`, { name })],
  [
    'POST providers',
    'name',
    (name) => owner().post('/v1/admin/providers', { type: 'openai', name, slug: slug(), secret: SECRET }),
  ],
  ['PUT providers/{id}', 'name', (name) => owner().put(`/v1/admin/providers/${providerId}`, { name })],
  ['POST provider-gateways', 'name', (name) => owner().post('/v1/admin/provider-gateways', { ...GATEWAY, name })],
  [
    'PATCH provider-gateways/{id}',
    'name',
    (name) => owner().send('PATCH', `/v1/admin/provider-gateways/${gatewayId}`, { name }, {}),
  ],
  ['POST keys', 'name', (name) => owner().post('/v1/admin/keys', { name })],
  ['POST organizations', 'name', (name) => owner().post('/v1/admin/organizations', { name })],
  [
    'PATCH organizations/{id}',
    'name',
    (name) => owner().send('PATCH', `/v1/admin/organizations/${client.organizationId}`, { name }, {}),
  ],
  ['sign-up', 'name', (name) => signUpAt(browserOf(world), newSignUp({ name }))],
  ['update-user', 'name', (name) => owner().post('/v1/auth/update-user', { name })],
  [
    'registering for a login',
    'name',
    async (name) => {
      const { id, proof } = await newLogin();
      return browserOf(world).post(`/v1/cli/browser/${id}/register`, {
        ...newSignUp({ name }),
        submissionToken: proof,
      });
    },
  ],
  [
    'a terminal that logs in',
    'client.label',
    (label) => new Terminal(world, `198.51.100.${++slugs % 250}`).open({ client: { label } }),
  ],
  [
    'the system of a terminal',
    'client.os',
    (os) => new Terminal(world, `198.51.100.${++slugs % 250}`).open({ client: { label: 'A laptop', os } }),
  ],
  ['operation app.add', 'payload.name', (name) => operation('app.add', ofApp(name))],
  ['operation app.key.add', 'payload.name', (name) => operation('app.key.add', { app: appId, name })],
  [
    'operation provider.add',
    'payload.name',
    (name) => operation('provider.add', { type: 'openai', name, slug: slug(), secret: SECRET }),
  ],
  ['operation provider-gateway.add', 'payload.name', (name) => operation('provider-gateway.add', { ...GATEWAY, name })],
  ['tool add_app_key', 'name', (name) => tool('add_app_key', { app: appId, name })],
  ['tool add_provider', 'name', (name) => tool('add_provider', { type: 'openai', name, slug: slug() })],
  ['tool update_provider', 'name', (name) => tool('update_provider', { id: providerId, name })],
];

describe('names for display', () => {
  it.each(WAYS)(
    '%s, a misleading name → 400 that names it; a name with joiners → accepted',
    async (_way, member, write) => {
      for (const name of MISLEADING) {
        const { status, body } = await write(name);
        expect([name, status, body.error?.message]).toEqual([name, 400, `${member}: ${PROBLEM}`]);
      }
      const written = await write(JOINED);
      expect([written.status < 300, written.body.error]).toEqual([true, undefined]);
    },
  );

  it('a step that a person completes → refused before its link exists', async () => {
    for (const kind of ['provider.add', 'provider-gateway.add']) {
      const { status } = await operation(kind, { type: 'vercel', name: 'a\u202eb' }, { browser: true });
      expect(status).toBe(400);
    }
  });

  it('the page of a login, registering → 400 that names it', async () => {
    const { id, proof } = await newLogin();
    const form = new URLSearchParams({ ...newSignUp({ name: 'a\u202eb' }), submissionToken: proof, step: 'register' });
    const answer = await fetch(`${world.consoleOrigin}/cli/approve/${id}`, {
      method: 'POST',
      headers: { origin: world.consoleOrigin, 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    expect(await answer.text()).toContain(PROBLEM);
    expect((await new ApprovalBrowser(world).details(id, proof)).body.viewer).toBeNull();
  });
});
