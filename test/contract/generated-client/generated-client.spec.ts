import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UsersService } from '../../../src/users/users.service.js';
import { clientsFile } from '../../support/consent/oauth-client.js';
import { addApp } from '../../support/mcp/change-client.js';
import { McpTestClient } from '../../support/mcp/mcp-client.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { SoftAuthenticator } from '../../support/sign-in/soft-authenticator.js';
import { type GatewayWorld, startGatewayWorld } from '../../support/upstream-gateway-world.js';
import { problemsWith, typesOf } from './generated-types.js';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.js';

/** Not compiled with the other tests: its types are those of the document that is served. */
const PROGRAM = new URL('./program/whole-api.ts', import.meta.url).pathname;
const COMPILING_MS = 120_000;
const METRICS_TOKEN = 'metrics-token-of-the-suite';
/** Calls of applications have separate clients. */
const OF_CALLERS = new Set(['Application authentication', 'Application', 'Provider proxy', 'Named endpoints']);

interface Operation {
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Program {
  driveWholeApi(stage: object): Promise<{ readonly operation: string; readonly credential: string }[]>;
}

let stage: GatewayWorld;
let thirdParty: OpenIdProvider;
let document: Document;

beforeAll(async () => {
  thirdParty = await startOpenIdProvider('client-1');
  const port = String(await freePort());
  stage = await startGatewayWorld({
    PORT: port,
    PUBLIC_URL: `http://localhost:${port}`,
    OAUTH_CLIENTS_FILE: clientsFile(),
    ALLOW_ADDITIONAL_REGISTRATIONS: 'true',
    GOOGLE_CLIENT_ID: 'client-1',
    GOOGLE_CLIENT_SECRET: 'secret-1',
    GOOGLE_ISSUER_URL: thirdParty.url,
    METRICS_TOKEN,
    TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
    REDIS_URL: '',
  });
  stage.edge.script(json(200, { data: [] }));
  stage.world.upstream.script(json(200, { data: [] }));
  document = JSON.parse(await (await fetch(`${stage.world.baseUrl}/openapi.json`)).text());
});

afterAll(async () => {
  await stage.stop();
  await thirdParty.close();
});

async function meetUser(app: string): Promise<string> {
  const { dataSource, gateway } = stage.world;
  const rows: { organizationId: string }[] = await dataSource.query(
    'SELECT organization_id AS "organizationId" FROM apps WHERE id = $1',
    [app],
  );
  const organizationId = rows[0]?.organizationId ?? '';
  const user = await gateway.app.get(UsersService).seen({ id: app, organizationId }, 'user-1');
  return user.id;
}

async function issueKey(managementKey: string): Promise<string> {
  const mcp = await McpTestClient.connect(stage.world.consoleOrigin, managementKey);
  return (await addApp({ mcp })).id;
}

/** `POST /v1/admin/apps as ManagementBearer`: every operation, with every credential it names; `as none` if none. */
function describedCalls(): string[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => !tags.some((tag) => OF_CALLERS.has(tag)))
      .flatMap(([method, { security }]) => {
        const credentials = security.length === 0 ? ['none'] : security.flatMap((scheme) => Object.keys(scheme));
        return credentials.map((credential) => `${method.toUpperCase()} ${path} as ${credential}`);
      }),
  );
}

describe('a client generated from the served document', () => {
  it(
    'types: the program that drives the whole API → compiles against them',
    async () => {
      const types = await typesOf(document);
      expect(problemsWith(types)).toEqual([]);
      expect(problemsWith(types.replaceAll('invitations', 'summons'))).not.toEqual([]);
    },
    COMPILING_MS,
  );

  it('calls: every operation with every credential it names → each succeeds, none is left out', async () => {
    const { driveWholeApi }: Program = await import(PROGRAM);
    const { world } = stage;
    const { signInAt } = thirdParty;
    const baseUrl = stage.world.consoleOrigin;
    const places = { baseUrl, bootstrapKey: world.managementKey, providerUrl: `${world.upstream.url}/` };
    const calls = await driveWholeApi({
      ...places,
      metricsToken: METRICS_TOKEN,
      signInAt,
      meetUser,
      issueKey,
      passkey: new SoftAuthenticator(baseUrl),
    });
    const made = new Set(
      calls.flatMap(({ operation, credential }) => [`${operation} as ${credential}`, `${operation} as none`]),
    );
    // This deployment has an account; its first one is opened in test/e2e/cli/cli-bootstrap.e2e-spec.ts.
    expect(describedCalls().filter((call) => !made.has(call))).toEqual(['POST /v1/cli/bootstrap as none']);
    expect(describedCalls().length).toBeGreaterThan(50);
  });
});
