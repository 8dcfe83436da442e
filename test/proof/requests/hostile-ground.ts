import { acmeType } from '../../../examples/extension/acme-type.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newOrganization } from '../../support/accounts/people.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { type MobileWorld, startMobileWorld } from '../../support/client-auth/exchange/mobile-world.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { OpenIdProvider } from '../../support/sign-in/openid-provider.js';
import { REDIRECT_URI, thirdPartySettings } from '../../support/sign-in/third-party.js';
import { CALLED_PROVIDER, HostileParts, SECRETS } from './hostile-parts.js';
import { type Operation, operationsOf } from './operations.js';

/** Rows that people make and change, and nobody else. */
const TABLES = ['apps', 'app_keys', 'providers', 'provider_gateways', 'memberships', 'invitations', 'management_keys'];

/** The simulated outside world. */
interface Outside {
  readonly provider: ScriptedUpstream;
  readonly people: OpenIdProvider;
}

/** An account to which no caller belongs. */
interface Others {
  readonly organizationId: string;
  /** Ids of everything in it. */
  readonly ids: readonly string[];
}

/** A service with everything in it that its routes ask for, and whose outward calls all end on the loopback. */
export class HostileGround {
  readonly operations: readonly Operation[];

  private constructor(
    readonly world: MobileWorld,
    document: unknown,
    readonly parts: HostileParts,
    private readonly outside: Outside,
    private readonly others: Others,
  ) {
    this.operations = operationsOf(document);
  }

  static async start(): Promise<HostileGround> {
    const outside = { provider: await startUpstream(), people: await OpenIdProvider.start(REDIRECT_URI) };
    const url = `${outside.provider.url}/`;
    const world = await startMobileWorld({
      env: {
        ...thirdPartySettings(outside.people),
        ...{ ALLOW_ADDITIONAL_REGISTRATIONS: 'true', METRICS_TOKEN: SECRETS.metrics },
        ...{ CF_AIG_BASE_URL: url, VERCEL_AI_GATEWAY_BASE_URL: url },
      },
      providerTypes: [acmeType(url)],
    });
    const { body: document } = await world.api.get('/openapi.json');
    const parts = new HostileParts(world, await firstOrganizationId(world.dataSource), url);
    await world.provider(CALLED_PROVIDER);
    return new HostileGround(world, document, parts, outside, await furnishOthers(world));
  }

  async stop(): Promise<void> {
    await this.world.stop();
    await this.outside.provider.close();
    await this.outside.people.stop();
  }

  /** Ids that no caller may distinguish from missing ones. */
  get theirIds(): readonly string[] {
    return this.others.ids;
  }

  /** Texts that no answer and no log line may contain. */
  get secrets(): readonly string[] {
    const { JWT_SECRET = '', AUTH_SECRET = '', SECRET_VAULT_LOCAL_KEK_V1 = '' } = this.world.environment;
    return [this.world.managementKey, JWT_SECRET, AUTH_SECRET, SECRET_VAULT_LOCAL_KEK_V1, ...Object.values(SECRETS)];
  }

  /** A text that changes with anything that people of the callers' account create. */
  ownState(): Promise<string> {
    return this.stateOf(this.parts.own);
  }

  /** The same for the account to which no caller belongs. */
  theirState(): Promise<string> {
    return this.stateOf(this.others.organizationId);
  }

  /** Deletes what has accumulated in the callers' account: thousands of requests would each list it all. */
  async tidy(): Promise<void> {
    const { dataSource } = this.world;
    for (const table of ['apps', 'app_keys', 'invitations']) {
      await dataSource.query(`DELETE FROM ${table} WHERE organization_id = $1`, [this.parts.own]);
    }
    await dataSource.query('DELETE FROM providers WHERE organization_id = $1 AND slug <> $2', [
      this.parts.own,
      CALLED_PROVIDER.slug,
    ]);
    await dataSource.query('DELETE FROM provider_gateways WHERE organization_id = $1', [this.parts.own]);
    await dataSource.query(
      `DELETE FROM identities USING memberships
       WHERE identity_id = identities.id AND organization_id = $1 AND identities.created_at >
         (SELECT min(joined_at) FROM memberships WHERE organization_id = $1)`,
      [this.parts.own],
    );
    this.parts.forgetAll();
  }

  private async stateOf(organizationId: string): Promise<string> {
    const parts = TABLES.map(
      (table) =>
        `SELECT '${table}' AS name, string_agg((to_jsonb(t) - 'last_used_at')::text, E'\\n' ORDER BY to_jsonb(t)::text)
           AS rows
         FROM ${table} t WHERE organization_id = $1`,
    );
    const [{ state }] = await this.world.dataSource.query(
      `SELECT md5(string_agg(name || coalesce(rows, ''), '' ORDER BY name)) AS state
       FROM (${parts.join(' UNION ALL ')}) all_rows`,
      [organizationId],
    );
    return state;
  }
}

/** Creates an account with one of everything. */
async function furnishOthers(world: MobileWorld): Promise<Others> {
  const { organizationId, owner } = await newOrganization(world);
  const { client, identityId } = owner;
  const made = async (path: string, body: object) => (await client.post(`/v1/admin/${path}`, body)).body;
  const name = 'Theirs';
  const { app } = await made('apps', { name, config: rawServerConfig() });
  const { provider } = await made('providers', { type: 'acme', name, secret: SECRETS.provider });
  const { gateway } = await made('provider-gateways', { type: 'vercel', name, token: SECRETS.gateway });
  const { invitation } = await made('invitations', { role: 'member' });
  const { key } = await made('keys', { name });
  return { organizationId, ids: [organizationId, identityId, app.id, provider.id, gateway.id, invitation.id, key.id] };
}
