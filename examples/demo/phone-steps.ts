import type { AndroidDevice, AndroidVendor } from '../../test/support/client-auth/devices/android.js';
import type { Device, DeviceVendor } from '../../test/support/client-auth/devices/device.js';
import { BUNDLE_ID, TEAM_ID } from '../../test/support/client-auth/devices/phone.js';
import type { IssuerSimulator } from '../../test/support/client-auth/issuers/issuer.js';
import { remark } from './screen.js';
import type { ShownHttp } from './shown-http.js';

/** The shared state of the steps. */
export interface PhoneStory {
  readonly http: ShownHttp;
  readonly managementKey: string;
  readonly provider: { readonly slug: string };
  readonly vendor: DeviceVendor;
  readonly android: AndroidVendor;
  readonly issuer: IssuerSimulator;
}

/** A simulated phone: what its system makes of a challenge. */
export interface DemoPhone {
  /** Members of a registration. */
  attest(challenge: string): Promise<object>;
  /** Members of an exchange. */
  prove(appId: string, challenge: string): object;
}

/** A phone with App Attest. */
export function iPhone(device: Device): DemoPhone {
  return {
    attest: async (challenge) => ({ key_id: device.keyId, attestation: await device.attest({ ...IDS, challenge }) }),
    prove: (appId, challenge) => ({ key_id: device.keyId, assertion: device.assert({ ...IDS, appId, challenge }) }),
  };
}

/** A phone with key attestation. */
export function androidPhone(device: AndroidDevice): DemoPhone {
  const named = { proof: 'key_attestation', key_id: device.keyId };
  return {
    attest: async (challenge) => ({ ...named, certificate_chain: device.attest(challenge) }),
    prove: (appId, challenge) => ({ ...named, signature: device.sign(appId, challenge) }),
  };
}

interface ExchangeOptions {
  readonly issuerToken?: string;
  readonly expect?: number;
}

const MODEL = 'gpt-4.1-mini';
const IDS = { teamId: TEAM_ID, bundleId: BUNDLE_ID };

/** @param authentication of the application's configuration. */
export async function createApp(
  { http, managementKey }: PhoneStory,
  name: string,
  authentication: object,
): Promise<{ id: string; key: string }> {
  const routing = { providers: { mode: 'all' }, model_rewrites: {} };
  const { app, api_key } = await http('/v1/admin/apps', {
    body: { name, config: { authentication, routing } },
    bearer: ['management key', managementKey],
    expect: 201,
    shown: (answer) => ({ app: { id: answer.app.id, '…': '…' }, api_key: answer.api_key }),
  });
  return { id: app.id, key: api_key?.key };
}

/** Registers the device's key with the gateway, once per install. */
export async function register({ http }: PhoneStory, appId: string, phone: DemoPhone, issuerToken?: string) {
  remark('Register the device, once:');
  const { challenge } = await http(`/v1/apps/${appId}/auth/challenge`, { body: {} });
  const body = { ...tokenMember(issuerToken), ...(await phone.attest(challenge)), challenge };
  await http(`/v1/apps/${appId}/auth/register`, { body });
}

/** Exchanges a signature of the device for a gateway token. */
export async function exchange(
  { http }: PhoneStory,
  appId: string,
  phone: DemoPhone,
  { issuerToken, expect }: ExchangeOptions = {},
): Promise<string> {
  remark('Exchange a signature for a gateway token:');
  const { challenge } = await http(`/v1/apps/${appId}/auth/challenge`, { body: {} });
  const body = { ...tokenMember(issuerToken), ...phone.prove(appId, challenge), challenge };
  const answer = await http(`/v1/apps/${appId}/auth/token`, { body, expect });
  return answer.access_token;
}

/** Calls the provider as a phone does. */
export async function callProvider({ http, provider }: PhoneStory, appId: string, token: string, expect = 200) {
  remark('Call the provider:');
  await http(`/v1/apps/${appId}/proxy/${provider.slug}/v1/chat/completions`, {
    body: { model: MODEL, messages: [{ role: 'user', content: 'Say hello.' }] },
    bearer: ['gateway token', token],
    headers: { 'X-App-Version': '1.4.0' },
    expect,
    shown: ({ choices, usage, ...others }) => (choices ? { choices, usage, '…': '…' } : others),
  });
}

function tokenMember(issuerToken: string | undefined): object {
  return issuerToken === undefined ? {} : { issuer_token: issuerToken };
}
