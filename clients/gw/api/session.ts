import type { components } from '../../console/src/api/schema.d.ts';
import type { Context } from '../program/envelope.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { type Api, apiOf, read } from './client.js';

/** What a deployment reports about itself. */
type Capabilities = components['schemas']['CliCapabilitiesResponse'];

/** The account of a credential, as the deployment reports it to a terminal. */
type AccountStanding = components['schemas']['CliAccountResponse'];

/** A deployment that speaks the protocol of this client. */
export interface Deployment {
  readonly url: string;
  readonly capabilities: Capabilities;
}

/** An account of a deployment, with a credential. */
export interface Session extends Deployment {
  readonly api: Api;
  /** The credential. It is sent only to this deployment. */
  readonly key: string;
  readonly standing: AccountStanding;
}

interface Credential {
  readonly key: string;
  readonly deploymentId: string | undefined;
}

/** @throws Failure it is not a gateway, or one with another protocol. */
export async function deploymentAt(url: string, context: Context): Promise<Deployment> {
  context.url = url;
  const capabilities = await read(apiOf(url).GET('/v1/cli/capabilities'));
  return { url, capabilities };
}

/**
 * The origin of a gateway as it was typed.
 *
 * @throws Failure it is not a web address, or a key would go over the network unencrypted.
 */
export function originOf(typed: string, allowsHttp: boolean): string {
  const url = URL.canParse(typed) ? new URL(typed) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    const nextAction = 'Give the address of the gateway, such as https://gateway.example.com';
    throw Failure.input('invalid_url', `"${typed}" is not the address of a gateway.`, { nextAction });
  }
  if (url.protocol === 'http:' && !allowsHttp && !isLoopback(url.hostname)) {
    const nextAction = 'Use https, or set GW_ALLOW_HTTP=1 in a network that you trust.';
    throw Failure.input('insecure_url', `${url.origin} would carry keys unencrypted.`, { nextAction });
  }
  return url.origin;
}

/** Whether a host name is this machine. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The deployment of the environment, else of the profile. @throws Failure neither names one. */
export function urlOf({ environment, profiles, profileName }: Invocation): string {
  const url = environment.url ?? profiles.find(profileName)?.url;
  if (url !== undefined) return originOf(url, environment.allowsHttp);
  const nextAction = 'Connect one: gw deployment connect --url https://gateway.example.com';
  throw Failure.state('not_connected', 'No gateway is connected.', { nextAction });
}

/**
 * The account that the key of the environment, else the saved one, belongs to. A saved key is sent only to the
 * deployment it was saved for.
 *
 * @throws Failure there is no key, it is refused, or the deployment is another one.
 */
export async function sessionOf(gw: Invocation): Promise<Session> {
  const url = urlOf(gw);
  const { key, deploymentId } = await credentialFor(gw, url);
  const deployment = await deploymentAt(url, gw.context);
  if (deploymentId !== undefined && deployment.capabilities.deployment.id !== deploymentId) {
    const nextAction = 'If it was reinstalled, connect again: gw deployment connect';
    throw Failure.state('deployment_changed', `${url} is not the deployment the key was saved for.`, { nextAction });
  }
  return openSession(deployment, key, gw.context);
}

/** @throws Failure the key is refused. */
export async function openSession(deployment: Deployment, key: string, context: Context): Promise<Session> {
  const api = apiOf(deployment.url, key);
  const standing = await read(api.GET('/v1/cli/account'));
  context.accountId = standing.account.id;
  return { ...deployment, api, key, standing };
}

/**
 * The key for an address; a saved key comes with the deployment that it was saved for. @throws Failure no key.
 */
async function credentialFor({ environment, profiles, profileName }: Invocation, url: string): Promise<Credential> {
  if (environment.managementKey !== undefined) return { key: environment.managementKey, deploymentId: undefined };
  const profile = profiles.find(profileName);
  const key = profile?.url === url ? await profiles.key(profileName) : undefined;
  if (key !== undefined) return { key, deploymentId: profile?.deploymentId };
  if (profile?.url === url && profile.key === 'keychain') {
    const nextAction = 'Unlock the keychain, unset GW_NO_KEYCHAIN, or log in again: gw account login';
    throw Failure.state('not_logged_in', `The keychain does not give the key for ${url}.`, { nextAction });
  }
  const nextAction = 'Log in: gw account login, or set GW_MANAGEMENT_KEY.';
  throw Failure.state('not_logged_in', `No key is saved for ${url}.`, { nextAction });
}
