import { keyAttestation } from '../../test/support/client-auth/devices/android.js';
import { BUNDLE_ID, TEAM_ID } from '../../test/support/client-auth/devices/phone.js';
import { eventually } from '../../test/support/eventually.js';
import { managementApi } from './management-api.js';
import {
  androidPhone,
  callProvider,
  createApp,
  type DemoPhone,
  exchange,
  iPhone,
  type PhoneStory,
  register,
} from './phone-steps.js';
import { heading, remark } from './screen.js';

/** A phone whose user has signed in. */
export interface SignedInPhone {
  readonly appId: string;
  readonly phone: DemoPhone;
  readonly gatewayToken: string;
}

const APP_ATTEST = { team_id: TEAM_ID, bundle_id: BUNDLE_ID, environments: ['production', 'development'] };
const USER = 'ada';
const EVENTS_WITHIN_MS = 20_000;

/** An application whose users are its installs: attest, exchange, call. */
export async function callFromInstall(story: PhoneStory): Promise<void> {
  heading('2. An application whose users are its installs');
  const end_user = { source: 'app_install' };
  const proofs = { app_attest: APP_ATTEST, key_attestation: keyAttestation() };
  const app = await createApp(story, 'Notes', { type: 'device_proofs', end_user, proofs });
  remark('An iPhone, which proves itself with App Attest:');
  await callFrom(story, app.id, iPhone(story.vendor.device()));
  remark('An Android phone, whose hardware attests its key:');
  await callFrom(story, app.id, androidPhone(story.android.device()));
}

async function callFrom(story: PhoneStory, appId: string, phone: DemoPhone): Promise<void> {
  await register(story, appId, phone);
  const token = await exchange(story, appId, phone);
  await callProvider(story, appId, token);
  remark('Ask how the user stands:');
  await story.http(`/v1/apps/${appId}/me`, { method: 'GET', bearer: ['gateway token', token] });
}

/** An application whose users sign in: the same, with a token of the identity provider. */
export async function callFromUser(story: PhoneStory): Promise<SignedInPhone> {
  heading('3. An application whose users sign in');
  const end_user = { source: 'issuer', issuer: story.issuer.issuerConfig() };
  const app = await createApp(story, 'Chat', { type: 'device_app_attest', end_user, app_attest: APP_ATTEST });
  const phone = iPhone(story.vendor.device());
  const issuerToken = await story.issuer.token({ sub: USER });
  await register(story, app.id, phone, issuerToken);
  const gatewayToken = await exchange(story, app.id, phone, { issuerToken });
  await callProvider(story, app.id, gatewayToken);
  return { appId: app.id, phone, gatewayToken };
}

/** A backend that calls for a signed-in user. */
export async function callFromBackend(story: PhoneStory) {
  heading('4. A backend whose users sign in');
  const end_user = { source: 'issuer', issuer: story.issuer.issuerConfig() };
  const { id, key } = await createApp(story, 'Website', { type: 'api_key', end_user });
  const issuerToken = await story.issuer.token({ sub: USER });
  const body = { api_key: key, issuer_token: issuerToken };
  const { access_token } = await story.http(`/v1/apps/${id}/auth/token`, { body });
  await callProvider(story, id, access_token);
  return { id, key, issuerToken };
}

/** What a blocked user sees, and how it ends. */
export async function blockUser(story: PhoneStory, { appId, phone, gatewayToken }: SignedInPhone): Promise<void> {
  heading('5. Block a user');
  const user = `/v1/admin/apps/${appId}/users/${USER}`;
  const bearer = ['management key', story.managementKey] as const;
  await story.http(`${user}/block`, { bearer });
  await callProvider(story, appId, gatewayToken, 403);
  await exchange(story, appId, phone, { issuerToken: await story.issuer.token({ sub: USER }), expect: 403 });
  await story.http(`${user}/unblock`, { bearer });
}

/** Provokes a refusal that tells clients little, and shows where its cause is recorded. */
export async function tellWhy(story: PhoneStory, url: string, { appId, phone }: SignedInPhone): Promise<void> {
  heading('6. Find out why a sign-in failed');
  remark('An identity token for somebody else’s application:');
  const issuerToken = await story.issuer.token({ sub: USER, aud: 'other' });
  await exchange(story, appId, phone, { issuerToken, expect: 403 });
  const events = `apps/${appId}/auth-events`;
  const rejected = `${events}?outcome=issuer_token_rejected&limit=1`;
  const api = managementApi(url, story.managementKey);
  // Events are stored after the response.
  await eventually(async () => (await api.get(rejected)).events.length > 0, { withinMs: EVENTS_WITHIN_MS });
  const request = { method: 'GET', bearer: ['management key', story.managementKey] } as const;
  remark('Each attempt is an event, and its reason says more than the client was told:');
  await story.http(`/v1/admin/${rejected}`, request);
  await story.http(`/v1/admin/${events}/summary?days=1`, request);
}
