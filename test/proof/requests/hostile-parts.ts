import { randomBytes } from 'node:crypto';
import { newAccount, newMember } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../support/apps/app-configs.js';
import type { MobileWorld } from '../../support/client-auth/exchange/mobile-world.js';
import { registered } from '../../support/sign-in/console.js';
import { beginAt, stateOf } from '../../support/sign-in/third-party.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import type { Caller, Ids } from './hostile-requests.js';
import type { Operation } from './operations.js';

/** Texts that belong to nobody's answer. */
export const SECRETS = {
  metrics: 'a-token-of-who-watches-the-metrics',
  gateway: 'a-token-of-a-gateway',
  provider: 'sk-a-secret-of-a-provider',
  password: 'correct horse battery',
};

/** The provider that applications call; of a type whose usual address is on the loopback. */
export const CALLED_PROVIDER = {
  ...{ type: 'acme', slug: 'hostile', baseUrl: undefined, secret: SECRETS.provider },
  pricing: { 'acme-large': { input: 2, output: 10 } },
};

const USER = 'user-1';
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
const ENDPOINTS = { answer: { api_style: 'responses', provider: 'hostile', model: 'acme-large' } };
const { pricing: PRICING } = CALLED_PROVIDER;
/** Configurations that use every part of the format. */
const CONFIGS = [
  rawServerConfig(),
  rawDeviceConfig(),
  { ...rawSelection({ hostile: { allowed_paths: ['v1/responses'] } }), endpoints: ENDPOINTS },
];
const GATEWAY_ROUTE = { modelPrefix: 'own/', providerOnly: ['azure'] };
const CALL = { model: 'acme-large', max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] };

/** What is made for the parameters of paths: where the path says which, by what stands before the first of them. */
type Made = 'call' | 'challenge' | 'register' | 'token' | `/${string}/`;

/** Everything in an account that its routes ask for, made when it is first needed. */
export class HostileParts {
  private readonly made = new Map<Made, Promise<Ids>>();
  private readonly credentials = new Map<Caller, Promise<readonly string[]>>();

  constructor(
    private readonly world: MobileWorld,
    /** The account. */
    readonly own: string,
    /** Where the scripted provider is, with a slash at the end. */
    private readonly providerUrl: string,
  ) {}

  /** Drops what a served write may have ended, so that it is created again: the objects in its path, and its caller. */
  forget(operation: Operation, caller: Caller): void {
    this.made.delete(madeFor(operation));
    this.credentials.delete(caller);
  }

  /** Makes everything again. */
  forgetAll(): void {
    this.made.clear();
    this.credentials.clear();
  }

  ids(operation: Operation): Promise<Ids> {
    return this.of(madeFor(operation));
  }

  async moreHeaders({ route }: Operation): Promise<readonly string[]> {
    if (route !== 'GET /v1/auth/callback/google') return [];
    return ['cookie', stateOf(await beginAt(this.world))];
  }

  credential(caller: Caller): Promise<readonly string[]> {
    const credential = this.credentials.get(caller) ?? this.newCredential(caller);
    this.credentials.set(caller, credential);
    return credential;
  }

  async bodies({ route }: Operation): Promise<readonly unknown[]> {
    const name = 'Hostile';
    const slug = `s-${randomBytes(6).toString('hex')}`;
    const person = { email: `${slug}@example.com`, password: SECRETS.password };
    const provider = { type: 'acme', secret: SECRETS.provider };
    const token = async () => ({ token: (await this.of('/v1/admin/invitations/')).token });
    const configured = (more: object) => CONFIGS.map((config) => ({ name, config, status: 'active', ...more }));
    switch (route) {
      case 'POST /v1/admin/organizations/select':
        return [{ organizationId: this.own }];
      case 'POST /v1/admin/providers':
        return [
          { ...provider, name, slug, pricing: PRICING },
          { ...provider, name, slug, baseUrl: `${this.providerUrl}v2/` },
          { type: 'openai', name, slug, providerGatewayId: await this.gatewayId(), gatewayRoute: GATEWAY_ROUTE },
        ];
      case 'POST /v1/admin/providers/test':
        return [provider, { ...provider, baseUrl: this.providerUrl }];
      case 'PUT /v1/admin/providers/{id}':
        return [
          { name, pricing: PRICING, status: 'active', secret: SECRETS.provider, revision: 1 },
          { baseUrl: `${this.providerUrl}v3/`, secret: SECRETS.provider },
        ];
      case 'POST /v1/admin/apps':
      case 'POST /v1/admin/apps/{app}/validate':
        return configured({});
      case 'PUT /v1/admin/apps/{app}':
        return configured({ revision: 1 });
      case 'POST /v1/apps/{app}/auth/token':
        return [{ api_key: (await this.of('token')).key, issuer_token: await this.world.issuer.token() }];
      case 'POST /v1/auth/sign-in/email':
        return [person];
      case 'POST /v1/auth/sign-up/email':
        return [{ ...person, name }];
      case 'POST /v1/auth/change-password':
        return [{ currentPassword: SECRETS.password, newPassword: 'staple battery horse' }];
      case 'POST /v1/console/invitations/details':
      case 'POST /v1/console/invitations/accept':
        return [await token()];
      case 'POST /v1/apps/{app}/proxy/{provider}/{path}':
        return [CALL];
      default:
        return [];
    }
  }

  private of(what: Made): Promise<Ids> {
    const ids = this.made.get(what) ?? this.make(what);
    this.made.set(what, ids);
    return ids;
  }

  private async make(what: Made): Promise<Ids> {
    const { world } = this;
    switch (what) {
      case 'call':
        return this.newApp();
      case 'challenge':
      case 'register':
        return { app: (await world.deviceApp('app_install')).id };
      case 'token': {
        const { id, key } = await world.backendApp();
        return { app: id, key };
      }
      case '/v1/admin/apps/': {
        const ids = await this.newApp();
        return { ...ids, confirm: ids.app ?? '', user_id: USER };
      }
      case '/v1/admin/providers/': {
        const slug = `p-${randomBytes(6).toString('hex')}`;
        return { id: (await world.provider({ ...CALLED_PROVIDER, slug })).id };
      }
      case '/v1/admin/provider-gateways/':
        return { id: await this.newGateway() };
      case '/v1/admin/organizations/':
        return { id: this.own };
      case '/v1/admin/members/':
        return { user: (await newMember(world.dataSource, this.own, { role: 'member' })).identityId };
      default:
        return this.ofPerson(what);
    }
  }

  private async gatewayId(): Promise<string> {
    return (await this.of('/v1/admin/provider-gateways/')).id ?? '';
  }

  private async newGateway(): Promise<string> {
    const body = { type: 'vercel', name: 'Edge', token: SECRETS.gateway };
    return (await this.world.api.post('/v1/admin/provider-gateways', body)).body.gateway.id;
  }

  /** An application with a user, and with usage. */
  private async newApp(): Promise<Ids> {
    const { api, dataSource } = this.world;
    const { id, key } = await this.world.app({ authentication: NAMED_USERS, endpoints: ENDPOINTS });
    const { body } = await api.get(`/v1/admin/apps/${id}/keys`);
    const event = { organization_id: this.own, app_id: id, created_at_ms: Date.now(), user_id: USER };
    await storeEvents(dataSource, event, { ...event, status: 'provider_error', cost_source: 'unresolved' });
    const call = { provider: CALLED_PROVIDER.slug, slug: 'answer', path: 'v1/chat/completions' };
    return { app: id, user: USER, key: body.keys[0].id, apiKey: key, ...call };
  }

  /** Objects that only a signed-in person may create. */
  private async ofPerson(what: Made): Promise<Ids> {
    const { client } = await newPerson(this.world, { organizationId: this.own });
    if (what === '/v1/admin/keys/') return { id: (await client.post('/v1/admin/keys', { name: 'Own' })).body.key.id };
    if (what !== '/v1/admin/invitations/') return {};
    const { invitation, url } = (await client.post('/v1/admin/invitations', { role: 'member' })).body;
    return { id: invitation.id, token: url.split('#')[1] };
  }

  private async newCredential(caller: Caller): Promise<readonly string[]> {
    const { world, own } = this;
    switch (caller) {
      case 'owner key':
        return bearer((await newMember(world.dataSource, own, {})).key);
      case 'owner session':
        return this.fromConsole((await newPerson(world, { organizationId: own })).cookie);
      case 'reading key':
        return bearer((await newMember(world.dataSource, own, { role: 'member', grant: 'read' })).key);
      case 'stranger':
        return bearer((await newAccount(world.dataSource)).key);
      case 'person':
        return this.fromConsole((await registered(world)).cookie);
      case 'app key':
        return [...bearer((await this.of('call')).apiKey ?? ''), 'x-end-user-id', USER];
      case 'watcher':
        return bearer(SECRETS.metrics);
      case 'nobody':
        return [];
    }
  }

  private fromConsole(cookie: string): readonly string[] {
    return ['cookie', cookie, 'x-console-request', '1', 'origin', this.world.consoleOrigin];
  }
}

function madeFor({ path }: Operation): Made {
  const before = path.slice(0, path.indexOf('{')) as Made;
  return before === '/v1/apps/' ? ((/auth\/(\w+)/.exec(path)?.[1] ?? 'call') as Made) : before;
}

function bearer(key: string): readonly string[] {
  return ['authorization', `Bearer ${key}`];
}
