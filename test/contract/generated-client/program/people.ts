import { type ApiClient, AT_CONSOLE, bodyOf, type Clients, cookiesOf } from './client.js';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'staple battery horse';
const AS_PERSON = { params: { header: AT_CONSOLE } };

/** Of one member, key or invitation. */
const at = <T>(path: T) => ({ params: { path, header: AT_CONSOLE } });

/** Registers somebody. @returns the cookies of their session. */
export function register(clients: Clients, email: string): Promise<string[]> {
  const body = { name: 'A person', email, password: PASSWORD };
  return cookiesOf(clients.anonymous().POST('/v1/auth/sign-up/email', { body }));
}

/** Signs in once more, ends that session from this one, and signs out everywhere. */
async function leaveEverywhere(clients: Clients, email: string): Promise<void> {
  const body = { email, password: PASSWORD };
  const [here, there] = [
    await cookiesOf(clients.anonymous().POST('/v1/auth/sign-in/email', { body })),
    await cookiesOf(clients.anonymous().POST('/v1/auth/sign-in/email', { body })),
  ].map((cookies) => clients.session(cookies));
  if (here === undefined || there === undefined) throw new Error('nobody signed in');
  const { sessions } = await bodyOf(there.GET('/v1/auth/list-sessions', AS_PERSON));
  const own = sessions.find(({ current }) => current);
  if (own === undefined) throw new Error('the session of the request is not in the list');
  await bodyOf(here.POST('/v1/auth/revoke-session', { ...AS_PERSON, body: { id: own.id } }));
  await bodyOf(here.POST('/v1/auth/revoke-sessions', AS_PERSON));
}

/** Leaves every session, signs in, changes name and password. @returns the cookies of the session that is left. */
export async function keepProfile(clients: Clients, email: string, registered: readonly string[]): Promise<string[]> {
  await bodyOf(clients.session(registered).POST('/v1/auth/sign-out'));
  await leaveEverywhere(clients, email);
  const anonymous = clients.anonymous();
  const signedIn = await cookiesOf(anonymous.POST('/v1/auth/sign-in/email', { body: { email, password: PASSWORD } }));
  const person = clients.session(signedIn);
  await bodyOf(person.GET('/v1/auth/get-session'));
  await bodyOf(person.POST('/v1/auth/update-user', { ...AS_PERSON, body: { name: 'Somebody else' } }));
  const passwords = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
  return cookiesOf(person.POST('/v1/auth/change-password', { ...AS_PERSON, body: passwords }));
}

/** Creates and uses passkeys, in place of a browser. */
export interface Authenticator {
  create(options: object): { readonly id: string; readonly clientDataJSON: string; readonly attestationObject: string };
  sign(options: object): {
    readonly id: string;
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string;
  };
}

/** Adds a passkey, signs in with it, removes it, and sets a new password with a recovery code. */
export async function usePasskey(clients: Clients, email: string, passkey: Authenticator): Promise<void> {
  const body = { email, password: NEW_PASSWORD };
  const person = clients.session(await cookiesOf(clients.anonymous().POST('/v1/auth/sign-in/email', { body })));
  const asked = await bodyOf(person.POST('/v1/auth/passkeys/options', AS_PERSON));
  const made = { name: 'Laptop', ...passkey.create(asked.options) };
  await bodyOf(person.POST('/v1/auth/passkeys', { ...AS_PERSON, body: made }));
  const begun = await clients.anonymous().POST('/v1/auth/sign-in/passkey/options');
  const { options } = await bodyOf(Promise.resolve(begun));
  const [binding] = await cookiesOf(Promise.resolve(begun));
  await bodyOf(clients.anonymous(binding).POST('/v1/auth/sign-in/passkey', { body: passkey.sign(options) }));
  const { passkeys } = await bodyOf(person.GET('/v1/auth/passkeys', AS_PERSON));
  await bodyOf(person.GET('/v1/auth/recovery-codes', AS_PERSON));
  const { codes } = await bodyOf(person.POST('/v1/auth/recovery-codes', AS_PERSON));
  for (const { id } of passkeys) await bodyOf(person.DELETE('/v1/auth/passkeys/{id}', at({ id })));
  const recovery = { email, code: codes[0] ?? '', newPassword: PASSWORD };
  await bodyOf(clients.anonymous().POST('/v1/auth/recover', { body: recovery }));
}

/** Creates another organization and selects it. @returns the cookie of the choice. */
export async function chooseNewOrganization(clients: Clients, session: readonly string[]): Promise<string[]> {
  const person = clients.session(session);
  await bodyOf(person.GET('/v1/admin/organizations', AS_PERSON));
  const { organization } = await bodyOf(
    person.POST('/v1/admin/organizations', { ...AS_PERSON, body: { name: 'Second' } }),
  );
  const body = { organizationId: organization.id };
  return cookiesOf(person.POST('/v1/admin/organizations/select', { ...AS_PERSON, body }));
}

/** Claims the first account of the deployment, which a key opened, and reads it. */
export async function claimAccount(clients: Clients, bootstrapKey: string, session: readonly string[]): Promise<void> {
  const body = { bootstrapKey };
  await bodyOf(clients.bearer('ManagementBearer', bootstrapKey).GET('/v1/admin/deployment'));
  const person = clients.session(session);
  const claimed = await bodyOf(person.POST('/v1/admin/organizations/claim', { ...AS_PERSON, body }));
  const organizationId = claimed.session.memberships[0]?.organization.id ?? '';
  const select = person.POST('/v1/admin/organizations/select', { ...AS_PERSON, body: { organizationId } });
  const chosen = await cookiesOf(select);
  await bodyOf(clients.session([...session, ...chosen]).GET('/v1/admin/deployment', AS_PERSON));
}

/** Invites somebody, who joins, gets a higher role and is removed. */
export async function manageMembers(
  clients: Clients,
  owner: readonly string[],
  guest: readonly string[],
): Promise<void> {
  const client = clients.session(owner);
  const unwanted = await bodyOf(client.POST('/v1/admin/invitations', { ...AS_PERSON, body: { role: 'admin' } }));
  const { id } = unwanted.invitation;
  await bodyOf(client.POST('/v1/admin/invitations/{id}/revoke', at({ id })));
  const { url } = await bodyOf(client.POST('/v1/admin/invitations', { ...AS_PERSON, body: { role: 'member' } }));
  await bodyOf(client.GET('/v1/admin/invitations', AS_PERSON));
  const body = { token: new URL(url).hash.slice(1) };
  await bodyOf(clients.anonymous().POST('/v1/console/invitations/details', { body }));
  const header = { ...AT_CONSOLE, Origin: clients.baseUrl };
  await bodyOf(clients.session(guest).POST('/v1/console/invitations/accept', { params: { header }, body }));
  await bodyOf(client.GET('/v1/admin/mail', AS_PERSON));
  await bodyOf(client.PUT('/v1/admin/mail', { ...AS_PERSON, body: { events: [] } }));
  const { members } = await bodyOf(client.GET('/v1/admin/members', AS_PERSON));
  const joined = members.find(({ role }) => role === 'member');
  if (joined === undefined) throw new Error('nobody has joined');
  const one = at({ user: joined.id });
  await bodyOf(client.PUT('/v1/admin/members/{user}', { ...one, body: { role: 'admin' } }));
  await bodyOf(client.DELETE('/v1/admin/members/{user}', one));
  await resetPassword(clients, client);
}

/** Has a person join who belongs to no other organization, and sets their password by a link. */
async function resetPassword(clients: Clients, owner: ApiClient): Promise<void> {
  const { url } = await bodyOf(owner.POST('/v1/admin/invitations', { ...AS_PERSON, body: { role: 'member' } }));
  const invitationToken = new URL(url).hash.slice(1);
  const body = { name: 'A member', email: 'member@example.com', password: PASSWORD, invitationToken };
  const { user } = await bodyOf(clients.anonymous().POST('/v1/auth/sign-up/email', { body }));
  const link = await bodyOf(owner.POST('/v1/admin/members/{user}/password-reset', at({ user: user.id })));
  const reset = { token: new URL(link.url).hash.slice(1), newPassword: NEW_PASSWORD };
  await bodyOf(clients.anonymous().POST('/v1/auth/reset-password', { body: reset }));
}

/** Creates and revokes a management key; another one revokes itself. @returns a third one, which works. */
export async function manageManagementKeys(clients: Clients, owner: readonly string[]): Promise<string> {
  const client = clients.session(owner);
  const create = (name: string) =>
    bodyOf(client.POST('/v1/admin/keys', { ...AS_PERSON, body: { name, grant: 'manage' } }));
  const [revoked, ended, kept] = [await create('Revoked'), await create('Ended'), await create('Kept')];
  await bodyOf(client.GET('/v1/admin/keys', AS_PERSON));
  await bodyOf(client.POST('/v1/admin/keys/{id}/revoke', at({ id: revoked.key.id })));
  await bodyOf(clients.bearer('ManagementBearer', ended.key.plaintext).DELETE('/v1/cli/credential'));
  return kept.key.plaintext;
}
