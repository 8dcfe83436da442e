import { createHash, randomBytes } from 'node:crypto';
import { AT_CONSOLE, bodyOf, type Clients, cookiesOf } from './client.js';
import { register } from './people.js';

/** A terminal that has opened a login. */
interface Opened {
  readonly token: string;
  readonly id: string;
  readonly proof: string;
  readonly userCode: string;
}

async function open(clients: Clients, loopbackRedirect?: string): Promise<Opened> {
  const token = randomBytes(32).toString('base64url');
  const body = { token, client: { label: 'A laptop' }, ...(loopbackRedirect && { loopbackRedirect }) };
  const { url, userCode } = await bodyOf(clients.anonymous().POST('/v1/cli/login', { body }));
  const id = `op:${createHash('sha256').update(token).digest('hex')}`;
  return { token, id, proof: new URL(url ?? '').hash.slice(1), userCode: userCode ?? '' };
}

/** The operations of a terminal with its key. */
export async function useTerminal(clients: Clients, key: string, owner: readonly string[]): Promise<void> {
  const terminal = clients.bearer('ManagementBearer', key);
  await bodyOf(clients.anonymous().GET('/v1/cli/capabilities'));
  for (const client of [terminal, clients.session(owner)]) {
    await bodyOf(client.GET('/v1/cli/account'));
    await bodyOf(client.GET('/v1/cli/usage'));
    await bodyOf(client.GET('/v1/cli/stream', { parseAs: 'text' }));
  }
  const token = randomBytes(32).toString('base64url');
  const payload = { type: 'vercel', name: 'Edge' };
  const body = { kind: 'provider-gateway.add', payload, token, browser: true } as const;
  const { url = '' } = await bodyOf(terminal.POST('/v1/cli/operations', { body }));
  if (new URL(url).hash === '') throw new Error('the page has no proof');
}

/** Logs terminals in: with a listener, by a code, and one that is declined; people come to approve them. */
export async function logTerminalsIn(clients: Clients, owner: readonly string[]): Promise<void> {
  const header = { Origin: clients.baseUrl };
  const anonymous = clients.anonymous();
  const person = clients.session(owner);

  const listening = await open(clients, 'http://127.0.0.1:51234/callback');
  const ofListening = { path: { id: listening.id }, header };
  const proven = { submissionToken: listening.proof };
  const found = await bodyOf(
    anonymous.POST('/v1/cli/browser/lookup', { params: { header }, body: { userCode: listening.userCode } }),
  );
  if (found.id !== listening.id) throw new Error('the code names another login');
  const { organizations = [] } = await bodyOf(
    person.POST('/v1/cli/browser/{id}/details', { params: ofListening, body: proven }),
  );
  const approval = { ...proven, approve: true, organizationId: organizations[0]?.id };
  const { redirectUrl = '' } = await bodyOf(
    person.POST('/v1/cli/browser/{id}/submit', { params: ofListening, body: approval }),
  );
  const redeemCode = new URL(redirectUrl).searchParams.get('code') ?? '';
  const path = { id: listening.id };
  await bodyOf(
    clients
      .bearer('OperationToken', listening.token)
      .POST('/v1/cli/login/{id}/redeem', { params: { path }, body: { redeemCode } }),
  );

  const declined = await open(clients);
  const ofDeclined = { path: { id: declined.id }, header };
  const body = { submissionToken: declined.userCode };
  await cookiesOf(anonymous.POST('/v1/cli/browser/{id}/google', { params: ofDeclined, body }));
  const newcomer = { ...body, name: 'A newcomer', email: 'newcomer@example.com', password: 'correct horse battery' };
  const somebody = clients.session(await register(clients, 'somebody@example.com'));
  await cookiesOf(somebody.POST('/v1/cli/browser/{id}/register', { params: ofDeclined, body: newcomer }));
  await bodyOf(person.POST('/v1/cli/browser/{id}/deny', { params: ofDeclined, body }));
  const standing = await bodyOf(
    clients
      .bearer('OperationToken', declined.token)
      .GET('/v1/cli/operations/{id}', { params: { path: { id: declined.id } } }),
  );
  if (!standing.denied) throw new Error('the declined login is not declined');
}

/** Reads where an operation of an AI client stands, and reveals the key that it issued. */
export async function revealKey(
  clients: Clients,
  { key, owner, operation }: { readonly key: string; readonly owner: readonly string[]; readonly operation: string },
): Promise<void> {
  const path = { id: operation };
  for (const client of [clients.bearer('ManagementBearer', key), clients.session(owner)]) {
    const { reveal_url: url } = await bodyOf(client.GET('/v1/admin/operations/{id}', { params: { path } }));
    if (url === undefined) throw new Error('there is no key to reveal');
  }
  const header = { ...AT_CONSOLE, Origin: clients.baseUrl };
  const { result } = await bodyOf(
    clients.session(owner).POST('/v1/admin/operations/{id}/reveal', { params: { path, header } }),
  );
  if (!JSON.stringify(result).includes('"key":"gw_')) throw new Error('the key was not revealed');
}
