import { generateKeyPairSync } from 'node:crypto';
import { type ApiClient, bodyOf } from './client.js';
import type { components } from './served.js';

type AppConfig = components['schemas']['AppConfig'];

const CONFIG: AppConfig = {
  authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-end-user-id' } },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};

/** The environment of the service. */
export interface Surroundings {
  /** Base URL of an AI provider. */
  readonly providerUrl: string;
  /** Lets somebody use an application. @returns their id there. */
  readonly meetUser: (app: string) => Promise<string>;
}

/** Everything that a key and a person may both do, in the organization the client acts in. */
export async function manageResources(client: ApiClient, { providerUrl, meetUser }: Surroundings): Promise<void> {
  const { session } = await bodyOf(client.GET('/v1/admin/session'));
  if (session.organization === null) throw new Error('the client acts in no organization');
  const own = { params: { path: { id: session.organization.id } } };
  await bodyOf(client.PATCH('/v1/admin/organizations/{id}', { ...own, body: { name: 'Renamed' } }));
  await bodyOf(client.GET('/v1/admin/prices'));
  await manageGateways(client);
  await manageProviders(client, providerUrl);
  await manageApps(client, meetUser);
  await manageWebhooks(client);
  await bodyOf(client.GET('/v1/admin/audit-events', { params: { query: { limit: 10 } } }));
  await bodyOf(client.GET('/v1/admin/audit-events/facets'));
}

async function manageGateways(client: ApiClient): Promise<void> {
  const connection = { type: 'cf_aig', token: 'edge-token', accountId: 'acc', gatewayId: 'main' } as const;
  await bodyOf(client.POST('/v1/admin/provider-gateways/test', { body: connection }));
  const { gateway } = await bodyOf(
    client.POST('/v1/admin/provider-gateways', { body: { ...connection, name: 'Edge' } }),
  );
  await bodyOf(client.GET('/v1/admin/provider-gateways'));
  const one = { params: { path: { id: gateway.id } } };
  await bodyOf(client.PATCH('/v1/admin/provider-gateways/{id}', { ...one, body: { name: 'Edge of Europe' } }));
  await bodyOf(client.POST('/v1/admin/provider-gateways/{id}/rotate', { ...one, body: { token: 'edge-token-2' } }));
  await bodyOf(client.DELETE('/v1/admin/provider-gateways/{id}', one));
}

async function manageWebhooks(client: ApiClient): Promise<void> {
  const body = { url: 'https://hooks.example.com/gateway', events: ['app_key.*'], name: 'Security' };
  const { webhook } = await bodyOf(client.POST('/v1/admin/webhooks', { body }));
  await bodyOf(client.GET('/v1/admin/webhooks'));
  const one = { params: { path: { id: webhook.id } } };
  await bodyOf(client.GET('/v1/admin/webhooks/{id}', one));
  await bodyOf(client.PATCH('/v1/admin/webhooks/{id}', { ...one, body: { apps: null, enabled: true } }));
  await bodyOf(client.POST('/v1/admin/webhooks/{id}/rotate', one));
  const { delivery } = await bodyOf(client.POST('/v1/admin/webhooks/{id}/test', one));
  await bodyOf(client.GET('/v1/admin/webhooks/{id}/deliveries', one));
  const again = { params: { path: { id: webhook.id, delivery: String(delivery.id) } } };
  await bodyOf(client.GET('/v1/admin/webhooks/{id}/deliveries/{delivery}', again));
  await bodyOf(client.POST('/v1/admin/webhooks/{id}/deliveries/{delivery}/resend', again));
  await bodyOf(client.DELETE('/v1/admin/webhooks/{id}', one));
}

async function manageProviders(client: ApiClient, baseUrl: string): Promise<void> {
  const direct = { type: 'openai', secret: 'sk-driven-by-the-document', baseUrl } as const;
  await bodyOf(client.POST('/v1/admin/providers/test', { body: direct }));
  const { provider } = await bodyOf(client.POST('/v1/admin/providers', { body: { ...direct, name: 'Provider' } }));
  await bodyOf(client.GET('/v1/admin/providers'));
  await bodyOf(client.GET('/v1/admin/providers/usage'));
  await readSnippet(client);
  const one = { params: { path: { id: provider.id } } };
  await bodyOf(client.POST('/v1/admin/providers/{id}/test', one));
  await bodyOf(client.PUT('/v1/admin/providers/{id}', { ...one, body: { status: 'disabled' } }));
  await bodyOf(client.DELETE('/v1/admin/providers/{id}', one));
}

/** Needs a provider to call. */
async function readSnippet(client: ApiClient): Promise<void> {
  const { app } = await bodyOf(client.POST('/v1/admin/apps', { body: { name: 'Example', config: CONFIG } }));
  const path = { app: app.id };
  await bodyOf(client.GET('/v1/admin/apps/{app}/snippet', { params: { path, query: { language: 'curl' } } }));
  await bodyOf(client.DELETE('/v1/admin/apps/{app}', { params: { path, query: { confirm: app.id } } }));
}

async function manageApps(client: ApiClient, meetUser: Surroundings['meetUser']): Promise<void> {
  const write = { name: 'Driven', config: CONFIG };
  await bodyOf(client.POST('/v1/admin/apps/validate', { body: write }));
  const { app } = await bodyOf(client.POST('/v1/admin/apps', { body: write }));
  await bodyOf(client.GET('/v1/admin/apps'));
  const one = { params: { path: { app: app.id } } };
  await bodyOf(client.GET('/v1/admin/apps/{app}', one));
  await bodyOf(client.POST('/v1/admin/apps/{app}/validate', { ...one, body: write }));
  const replacement = { ...write, status: app.status, revision: app.revision };
  await bodyOf(client.POST('/v1/admin/apps/{app}/validate', { ...one, body: replacement }));
  await bodyOf(client.PUT('/v1/admin/apps/{app}', { ...one, body: replacement }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/check', one));
  await manageKeys(client, app.id);
  await managePlayCredentials(client, app.id);
  await manageUsers(client, app.id, await meetUser(app.id));
  await readUsage(client, app.id);
  const query = { confirm: app.id };
  await bodyOf(client.DELETE('/v1/admin/apps/{app}', { params: { path: { app: app.id }, query } }));
}

async function manageKeys(client: ApiClient, app: string): Promise<void> {
  const ofApp = { params: { path: { app } } };
  const { id: key } = await bodyOf(client.POST('/v1/admin/apps/{app}/keys', { ...ofApp, body: { name: 'Second' } }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/keys', ofApp));
  await bodyOf(client.POST('/v1/admin/apps/{app}/keys/{key}/revoke', { params: { path: { app, key } } }));
}

async function managePlayCredentials(client: ApiClient, app: string): Promise<void> {
  const ofApp = { params: { path: { app } } };
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = {
    decryption_key: Buffer.alloc(32, 7).toString('base64'),
    verification_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
  await bodyOf(client.PUT('/v1/admin/apps/{app}/play-integrity/credentials', { ...ofApp, body }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/play-integrity/credentials', ofApp));
  await bodyOf(client.DELETE('/v1/admin/apps/{app}/play-integrity/credentials', ofApp));
}

async function manageUsers(client: ApiClient, app: string, user: string): Promise<void> {
  const one = { params: { path: { app, user } } };
  await bodyOf(client.POST('/v1/admin/apps/{app}/users/{user}/block', one));
  await bodyOf(client.GET('/v1/admin/apps/{app}/users/{user}', one));
  await bodyOf(client.GET('/v1/admin/apps/{app}/users/{user}/export', { ...one, parseAs: 'text' }));
  await bodyOf(client.POST('/v1/admin/apps/{app}/users/{user}/unblock', one));
  const named = { params: { path: { app }, query: { user_id: user } } };
  await bodyOf(client.POST('/v1/admin/apps/{app}/user/block', named));
  await bodyOf(client.GET('/v1/admin/apps/{app}/user', named));
  await bodyOf(client.GET('/v1/admin/apps/{app}/user/export', { ...named, parseAs: 'text' }));
  await bodyOf(client.POST('/v1/admin/apps/{app}/user/unblock', named));
  await bodyOf(client.GET('/v1/admin/apps/{app}/users', { params: { path: { app }, query: { limit: 10 } } }));
  await bodyOf(client.GET('/v1/admin/attention'));
}

async function readUsage(client: ApiClient, app: string): Promise<void> {
  const ofApp = { params: { path: { app } } };
  const { month } = await bodyOf(client.GET('/v1/admin/apps/{app}/usage', ofApp));
  await bodyOf(client.GET('/v1/admin/apps/{app}/events', ofApp));
  await bodyOf(client.GET('/v1/admin/apps/{app}/usage/timeseries', ofApp));
  const byModel = { params: { path: { app }, query: { by: 'model' } } } as const;
  await bodyOf(client.GET('/v1/admin/apps/{app}/usage/breakdown', byModel));
  await bodyOf(client.GET('/v1/admin/usage'));
  await bodyOf(client.GET('/v1/admin/usage/timeseries', { params: { query: { app, unit: 'hour' } } }));
  await bodyOf(client.GET('/v1/admin/usage/events', { params: { query: { status: 'refused' } } }));
  await bodyOf(client.GET('/v1/admin/usage/breakdown', { params: { query: { by: 'app' } } }));
  await bodyOf(client.GET('/v1/admin/usage/breakdown.csv', { params: { query: { by: 'app' } }, parseAs: 'text' }));
  await bodyOf(client.GET('/v1/admin/usage/events.csv', { parseAs: 'text' }));
  await bodyOf(client.GET('/v1/admin/usage/export', { params: { query: { format: 'focus' } }, parseAs: 'text' }));
  await bodyOf(client.GET('/v1/admin/usage/export/manifest', { params: { query: { since: '2026-01-01' } } }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/usage/export', { ...ofApp, parseAs: 'text' }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/usage/export/manifest', ofApp));
  const reprice = { provider: 'openai', model: 'gpt-4.1', month } as const;
  await bodyOf(client.POST('/v1/admin/apps/{app}/usage/reprice', { ...ofApp, body: reprice }));
  const settle = { month, cost: 'zero', filter: { status: 'provider_error' } } as const;
  await bodyOf(client.POST('/v1/admin/apps/{app}/usage/settle-estimates', { ...ofApp, body: settle }));
  await bodyOf(client.GET('/v1/admin/apps/{app}/auth-events', ofApp));
  await bodyOf(client.GET('/v1/admin/apps/{app}/auth-events/summary', ofApp));
  const app_attest = {
    ...{ team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production' as const] },
    ...{ mode: 'enforce' as const, framework_client: false },
  };
  const authentication = {
    type: 'device_proofs' as const,
    end_user: { source: 'app_install' as const },
    proofs: { app_attest },
  };
  await bodyOf(
    client.POST('/v1/admin/apps/{app}/enforcement-preview', { ...ofApp, body: { authentication, days: 7 } }),
  );
}
