import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listRouteAccess, type RouteAccess } from '../../../src/common/http/access.js';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import { type ExpectedAccess, expectedAccess, type JudgedCaller } from '../../support/accounts/expected-access.js';
import { newPerson } from '../../support/accounts/people.js';
import type { ApiAnswer, ApiClient } from '../../support/api-client.js';
import { forgeToken } from '../../support/client-auth/exchange/caller-tokens.js';
import { SERVER_APP } from '../../support/mcp/change-client.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
import { startWorld, type World } from '../../support/world.js';

const NOBODY = 'nobody-has-this';
const FOREIGN = 'https://elsewhere.example';
const REFUSALS = new Set<string>([
  '401 auth_required',
  '403 forbidden',
  '403 session_required',
  '403 grant_insufficient',
  '403 no_eligible_organization',
  '404 app_not_found',
]);
/** Callers that the service itself refuses, whatever the declaration says. */
const JUDGED_FURTHER: Readonly<Record<string, (caller: JudgedCaller) => boolean>> = {
  // Everybody may leave, but nothing else.
  'DELETE /v1/admin/members/:user': ({ role }) => role === 'member',
  // Owners of the first account.
  'GET /v1/admin/deployment': ({ account }) => account === 'another',
};

/** A caller, created again if the call may have ended their credential. */
interface Caller extends JudgedCaller {
  readonly name: string;
  readonly make: () => Promise<ApiClient>;
}

let world: World;
let own: string;
let another: string;
let app: { id: string; key: string };
let callers: readonly Caller[];
const clients = new Map<string, ApiClient>();

beforeAll(async () => {
  // Each request comes from a separate address, since address limits are not tested here.
  world = await startWorld({ env: { TRUSTED_PROXIES: '127.0.0.1/32' } });
  own = await firstOrganizationId(world.dataSource);
  another = (await newAccount(world.dataSource)).organizationId;
  app = await world.app();
  callers = everybody();
});

afterAll(() => world.stop());

const ROLES = ['owner', 'admin', 'member'] as const;
const GRANTS = ['manage', 'read'] as const;

function everybody(): Caller[] {
  const bearer = (text: string) => async () => world.as(text);
  return [
    { name: 'nobody', credential: 'none', lacksOrigin: true, make: async () => world.as(undefined) },
    { name: 'an application key', credential: 'foreign', lacksOrigin: true, make: bearer(app.key) },
    { name: 'a gateway token', credential: 'foreign', lacksOrigin: true, make: bearer(forgeToken({ app_id: app.id })) },
    ...ROLES.flatMap((role) => GRANTS.map((grant) => keyOf('own', role, grant))),
    ...ROLES.map((role) => sessionOf('own', role)),
    keyOf('another', 'owner', 'manage'),
    keyOf('another', 'member', 'read'),
    sessionOf('another', 'owner'),
    sessionOf('another', 'member'),
    { name: 'a person without an account', credential: 'session', account: 'none', make: person({}) },
    ...throughPages(),
  ];
}

/** An owner's session as pages of other sites can make a browser send it, and an anonymous request from there. */
function throughPages(): Caller[] {
  const owner = { credential: 'session', account: 'own', role: 'owner' } as const;
  const cookie = async () => (await newPerson(world, { organizationId: own })).cookie;
  const asked = async (headers: Readonly<Record<string, string>>) => world.with({ cookie: await cookie(), ...headers });
  const console = { 'x-console-request': '1' };
  return [
    {
      name: 'a session, a foreign origin',
      ...owner,
      isElsewhere: true,
      make: () => asked({ ...console, origin: FOREIGN }),
    },
    {
      name: 'a session, no console header',
      ...owner,
      lacksConsoleHeader: true,
      lacksOrigin: true,
      make: () => asked({}),
    },
    { name: 'a session, no origin', ...owner, lacksOrigin: true, make: () => asked(console) },
    {
      name: 'a session, a foreign origin, no console header',
      ...owner,
      isElsewhere: true,
      lacksConsoleHeader: true,
      make: () => asked({ origin: FOREIGN }),
    },
    {
      name: 'nobody, a foreign origin',
      credential: 'none',
      isElsewhere: true,
      make: async () => world.with({ origin: FOREIGN }),
    },
  ];
}

function keyOf(account: 'own' | 'another', role: 'owner' | 'admin' | 'member', grant: 'manage' | 'read'): Caller {
  const make = async () =>
    world.as((await newMember(world.dataSource, account === 'own' ? own : another, { role, grant })).key);
  return {
    name: `a ${grant} key of the ${role}, ${account}`,
    credential: 'key',
    lacksOrigin: true,
    account,
    role,
    grant,
    make,
  };
}

function sessionOf(account: 'own' | 'another', role: 'owner' | 'admin' | 'member'): Caller {
  const make = person({ organizationId: account === 'own' ? own : another, role });
  return { name: `a session of the ${role}, ${account}`, credential: 'session', account, role, make };
}

function person(options: Parameters<typeof newPerson>[1]): () => Promise<ApiClient> {
  return async () => (await newPerson(world, options)).client;
}

function judgedRoutes(): readonly RouteAccess[] {
  const schemes = ['management', 'person', 'identity'];
  return listRouteAccess(world.gateway.app).filter(
    ({ access }) => access.firstParty === true || schemes.includes(access.scheme),
  );
}

let requests = 0;

/** Calls with `names` in place of the parameters, and unknown ids in place of all others. */
function ask(client: ApiClient, route: string, names: Readonly<Record<string, string>>): Promise<ApiAnswer> {
  const [method = '', path = ''] = route.split(' ');
  const target = path.replaceAll(/:(\w+)/g, (_all, name: string) => names[name] ?? NOBODY);
  requests++;
  const from = `198.${18 + (requests >> 16)}.${(requests >> 8) & 255}.${requests & 255}`;
  const body = method === 'GET' || method === 'DELETE' ? undefined : bodyOf(route);
  return client.send(method, target, body, { headers: { 'x-forwarded-for': from } });
}

/** The body is valid only where it needs an id: nothing is created or changed. */
function bodyOf(route: string): object {
  if (route.startsWith('PATCH')) return { name: 'Renamed' };
  if (route.endsWith('/rotate')) return { token: 'a-token-of-a-gateway' };
  if (route === 'PUT /v1/admin/members/:user') return { role: 'member' };
  if (route === 'PUT /v1/admin/providers/:id') return { status: 'disabled' };
  return {};
}

async function clientOf({ name, make }: Caller): Promise<ApiClient> {
  const client = clients.get(name) ?? (await make());
  clients.set(name, client);
  return client;
}

function outcomeOf({ status, body }: ApiAnswer): string {
  const outcome = `${status} ${body?.error?.code}`;
  return REFUSALS.has(outcome) ? outcome : 'let through';
}

async function judge(of: RouteAccess, caller: Caller): Promise<string | undefined> {
  const { route } = of;
  const answer = await ask(await clientOf(caller), route, { app: app.id });
  if (!route.startsWith('GET') && answer.status < 300) clients.delete(caller.name);
  const expected: ExpectedAccess = expectedAccess(of, caller);
  if (expected === 'let through' && JUDGED_FURTHER[route]?.(caller)) return undefined;
  const outcome = outcomeOf(answer);
  return outcome === expected ? undefined : `${route} by ${caller.name}: ${outcome} instead of ${expected}`;
}

describe('every route of the console and of management × every kind of caller', () => {
  it('exactly the declared refusal', async () => {
    const routes = judgedRoutes();
    expect(routes.length).toBeGreaterThan(50);
    const wrong: string[] = [];
    for (const route of routes) {
      const problems = await Promise.all(callers.map((caller) => judge(route, caller)));
      wrong.push(...problems.filter((problem) => problem !== undefined));
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});

/** Ids of the account that stand behind the first id of a path, by what comes before it. */
async function ownIds(): Promise<Readonly<Record<string, string>>> {
  const [provider, gateway] = await Promise.all([
    world.provider(),
    world.api.post('/v1/admin/provider-gateways', { type: 'vercel', name: 'Edge', token: 'a-token-of-a-gateway' }),
  ]);
  const { client, identityId } = await newPerson(world, { organizationId: own });
  const key = await client.post('/v1/admin/keys', { name: 'Own' });
  const invitation = await client.post('/v1/admin/invitations', { role: 'member' });
  const mcp = await McpTestClient.connect(world.baseUrl, key.body.key.plaintext);
  const operation = await mcp.call('add_app', { config: SERVER_APP });
  const webhook = await client.post('/v1/admin/webhooks', { url: 'https://hooks.example.com' });
  await world.dataSource.query(
    "INSERT INTO passkeys VALUES ('passkey-own', $1, 'credential-own', '\\\\x00', 0, 'Laptop', now(), NULL)",
    [identityId],
  );
  return {
    '/v1/auth/passkeys/': 'passkey-own',
    '/v1/admin/webhooks/': webhook.body.webhook.id,
    '/v1/admin/apps/': app.id,
    '/v1/admin/providers/': provider.id,
    '/v1/admin/provider-gateways/': gateway.body.gateway.id,
    '/v1/admin/keys/': key.body.key.id,
    '/v1/admin/invitations/': invitation.body.invitation.id,
    '/v1/admin/organizations/': own,
    '/v1/admin/members/': identityId,
    '/v1/admin/operations/': operation.body.id,
  };
}

/**
 * How the answer to an existing id differs, byte for byte, from that to a missing one; empty if it does not.
 */
async function difference(
  client: ApiClient,
  route: string,
  there: Readonly<Record<string, string>>,
  missing: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const [of, instead] = [await ask(client, route, there), await ask(client, route, missing)];
  const isSame = of.status === instead.status && of.text === instead.text;
  const isMissing = of.status === 404 || of.body?.error.code === 'session_required';
  return isSame && isMissing ? [] : [`${route}: ${of.status} ${of.text}, but ${instead.status} ${instead.text}`];
}

describe('ids of others and unknown ids', () => {
  it('resources of another account → the same status and body, byte for byte', async () => {
    const ids = await ownIds();
    const [key, session] = await Promise.all([
      clientOf(keyOf('another', 'owner', 'manage')),
      clientOf(sessionOf('another', 'owner')),
    ]);
    const differences: string[] = [];
    // Ids of terminals' operations are digests of secrets: a caller with such an id learns that the proof is missing.
    const named = judgedRoutes().filter(({ route, access }) => route.includes(':') && !access.consoleHost);
    for (const { route, access } of named) {
      const [, before = '', name = ''] = /^\w+ ([^:]+):(\w+)/.exec(route) ?? [];
      const id = ids[before];
      if (id === undefined) throw new Error(`Say what stands behind ${route}.`);
      // A key sends no origin; where one is required, that is the only refusal.
      for (const stranger of access.exactOrigin ? [session] : [key, session]) {
        differences.push(...(await difference(stranger, route, { [name]: id })));
      }
    }
    expect(differences).toEqual([]);
  });

  it('resources of another application of the account → the same answer as for missing ones', async () => {
    const other = await world.app();
    const { keys } = (await world.api.get(`/v1/admin/apps/${other.id}/keys`)).body;
    const user = `user-${randomBytes(4).toString('hex')}`;
    await world.dataSource.query(
      "INSERT INTO app_users (organization_id, app_id, id, status, created_at) VALUES ($1, $2, $3, 'active', now())",
      [own, other.id, user],
    );
    // A block applies to the current or future user with this id in the named application.
    const nested = judgedRoutes().filter(({ route }) => /:app\/.*:/.test(route) && !route.endsWith('/:user/block'));
    expect(nested.length).toBeGreaterThan(2);
    for (const { route } of nested) {
      expect(await difference(world.api, route, { app: app.id, key: keys[0].id, user }, { app: app.id })).toEqual([]);
    }
  });
});
