import { bodyOf, type Call, Clients, cookiesOf } from './client.js';
import { letClientsIn } from './consents.js';
import {
  type Authenticator,
  chooseNewOrganization,
  claimAccount,
  keepProfile,
  manageManagementKeys,
  manageMembers,
  register,
  usePasskey,
} from './people.js';
import { manageResources, type Surroundings } from './resources.js';
import { logTerminalsIn, revealKey, useTerminal } from './terminals.js';

/** The environment of the program. */
export interface Stage extends Surroundings {
  readonly baseUrl: string;
  readonly metricsToken: string;
  /** The key that has opened the first account. */
  readonly bootstrapKey: string;
  /** Has an AI client issue an application key with a management key. @returns the id of its operation. */
  readonly issueKey: (managementKey: string) => Promise<string>;
  /** What a person's browser comes back from the third party with, who was sent to this address. */
  readonly passkey: Authenticator;
  readonly signInAt: (url: string) => { readonly state: string; readonly code: string };
}

/**
 * Performs everything that people, browsers and management keys may do, using only the service's document.
 *
 * @returns the calls that succeeded.
 * @throws Error for the first that did not.
 */
export async function driveWholeApi({
  baseUrl,
  metricsToken,
  bootstrapKey,
  signInAt,
  issueKey,
  passkey,
  ...surroundings
}: Stage): Promise<Call[]> {
  const clients = new Clients(baseUrl);
  const anonymous = clients.anonymous();
  await bodyOf(anonymous.GET('/v1/healthz'));
  await bodyOf(anonymous.GET('/v1/readyz'));
  await bodyOf(anonymous.GET('/v1/console/capabilities'));
  await bodyOf(clients.bearer('MetricsBearer', metricsToken).GET('/metrics', { parseAs: 'text' }));
  const session = await keepProfile(clients, 'ada@example.com', await register(clients, 'ada@example.com'));
  await claimAccount(clients, bootstrapKey, session);
  const owner = [...session, ...(await chooseNewOrganization(clients, session))];
  await manageMembers(clients, owner, await register(clients, 'grace@example.com'));
  const key = await manageManagementKeys(clients, owner);
  await manageResources(clients.session(owner), surroundings);
  await manageResources(clients.bearer('ManagementBearer', key), surroundings);
  await logTerminalsIn(clients, owner);
  await useTerminal(clients, key, owner);
  await letClientsIn(clients, owner);
  await revealKey(clients, { key, owner, operation: await issueKey(key) });
  await signInElsewhere(clients, signInAt);
  await usePasskey(clients, 'ada@example.com', passkey);
  return clients.calls;
}

async function signInElsewhere(clients: Clients, signInAt: Stage['signInAt']): Promise<void> {
  const begun = await clients.anonymous().POST('/v1/auth/sign-in/social', { body: { provider: 'google' } });
  const { url } = await bodyOf(Promise.resolve(begun));
  const [state] = await cookiesOf(Promise.resolve(begun));
  const returning = clients.anonymous(state);
  const query = signInAt(url);
  const { response } = await returning.GET('/v1/auth/callback/google', { params: { query } });
  const place = response.headers.get('location');
  if (place !== '/') throw new Error(`signed in elsewhere, the browser was sent to ${place}`);
}
