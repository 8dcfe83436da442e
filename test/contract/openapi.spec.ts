import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createOfflineGateway } from '../../src/bootstrap/offline-gateway.js';
import { ERRORS } from '../../src/common/errors/error-catalogue.js';
import { listRouteAccess } from '../../src/common/http/access.js';
import { OpenApiDocument } from '../../src/health/openapi.controller.js';
import { EVENT_TYPES, TEST_EVENT } from '../../src/webhooks/event-types.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRINT_DOCUMENT = `
  import { createOfflineGateway } from './dist/src/bootstrap/offline-gateway.js';
  import { OpenApiDocument } from './dist/src/health/openapi.controller.js';
  const app = await createOfflineGateway();
  process.stdout.write(app.get(OpenApiDocument).json);
  await app.close();
`;
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const TAGS = new Set([
  ...['Operations', 'Console authentication', 'Application authentication', 'Application', 'Provider proxy'],
  ...['Named endpoints', 'Admin applications', 'Admin management keys', 'Admin providers', 'Admin webhooks'],
  ...['Admin provider gateways', 'Admin organizations', 'Admin operations', 'Admin models', 'Admin billing'],
  ...['Admin change operations', 'CLI', 'Console OAuth consent'],
]);
const getOf = (path: string) => `GET /${path}`;
/** Routes that are their own description, or that are not shown. */
const UNDESCRIBED = new Set([
  'GET /openapi.json',
  'GET /v1/admin/billing/plans',
  'GET /v1/admin/billing/status',
  // Instances ask each other.
  'GET /v1/instances/{instance}/streams/{stream}',
  // They speak a protocol that describes itself.
  ...['POST /mcp', 'GET /mcp', 'DELETE /mcp'],
  // Pages for people.
  ...['GET /assets/pages.css', 'GET /assets/pages.js', 'GET /assets/pages.svg', 'GET /cli', 'POST /cli'],
  ...['', 'login', 'signup', 'invite', 'start', 'apps', 'apps/new', 'apps/{id}/{tab}', 'usage', 'providers'].map(getOf),
  ...['providers/gateways', 'models', 'access', 'members', 'audit', 'health', 'settings/profile'].map(getOf),
  ...[
    'settings/security',
    'settings/mail',
    'webhooks',
    'webhooks/{webhook}',
    'recover',
    'reset',
    'assets/{name}',
    'docs',
    'docs/*',
  ].map(getOf),
  ...['GET /cli/approve/{id}', 'POST /cli/approve/{id}', 'GET /oauth/consent', 'POST /oauth/consent'],
  // The authorization server, as OAuth describes it.
  ...['GET /oauth/authorize', 'POST /oauth/token', 'POST /oauth/revoke'],
  ...['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server'].flatMap((path) => [
    `GET /.well-known/${path}`,
    `OPTIONS /.well-known/${path}`,
  ]),
  ...['GET /reveal/{id}', 'POST /reveal/{id}'],
]);

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let app: NestFastifyApplication;
let document: Document;

beforeAll(async () => {
  app = await createOfflineGateway();
  document = JSON.parse(app.get(OpenApiDocument).json);
});

afterAll(() => app.close());

function operations(): { name: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ name: `${method.toUpperCase()} ${path}`, operation }];
    }),
  );
}

function offenders(isWrong: (operation: Operation) => boolean): string[] {
  return operations()
    .filter(({ operation }) => isWrong(operation))
    .map(({ name }) => name);
}

function references(within: unknown): string[] {
  if (typeof within !== 'object' || within === null) return [];
  return Object.entries(within).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : references(value),
  );
}

function resolves(reference: string): boolean {
  let at: unknown = document;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
  }
  return at !== undefined;
}

describe('OpenAPI document', () => {
  it('versions → OpenAPI 3.1.0 of API 0.1.0', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '0.1.0']);
  });

  it('operations → each has an id, a summary and one tag of the closed list', () => {
    expect(operations().length).toBeGreaterThan(0);
    expect(offenders(({ operationId }) => !/^[a-z][A-Za-z0-9]*$/.test(operationId ?? ''))).toEqual([]);
    expect(offenders(({ summary }) => !summary)).toEqual([]);
    expect(offenders(({ tags }) => tags?.length !== 1 || !TAGS.has(tags[0] ?? ''))).toEqual([]);
  });

  it('operation ids → all different', () => {
    const events = Object.values(document.webhooks).map(({ post }) => post);
    const ids = [...operations().map(({ operation }) => operation), ...events].map(({ operationId }) => operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('tags → the declared ones are those in use', () => {
    const used = new Set(operations().flatMap(({ operation }) => operation.tags ?? []));
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
  });

  it('docs/openapi.json → the document the service serves', async () => {
    // In a separate process: suites of this worker may have defined provider types.
    const args = ['--input-type=module', '--eval', PRINT_DOCUMENT];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
    expect(JSON.parse(readFileSync(`${ROOT}docs/openapi.json`, 'utf8'))).toEqual(JSON.parse(stdout));
  });

  it('routes → every one is described', () => {
    const served = listRouteAccess(app)
      .map(({ route }) => route.replaceAll(/:(\w+)/g, '{$1}'))
      .filter((route) => !UNDESCRIBED.has(route) && !route.startsWith('ALL '));
    const described = new Set(operations().map(({ name }) => name));
    expect(served.filter((route) => !described.has(route))).toEqual([]);
  });

  it('webhooks → every event type, and the test', () => {
    expect(Object.keys(document.webhooks)).toEqual([...Object.keys(EVENT_TYPES), TEST_EVENT]);
  });

  it('billing operations → none is included', () => {
    expect(operations().filter(({ name }) => name.includes('/billing/'))).toEqual([]);
  });

  it('management operations → name their credential, 401 and 403', () => {
    const wrong = operations()
      .filter(({ name }) => name.includes(' /v1/admin/'))
      .filter(({ operation: { security, responses } }) => {
        const isNamed = security?.some((one) => 'ManagementBearer' in one || 'ConsoleSession' in one);
        return !isNamed || !responses['401'] || !responses['403'];
      });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('operations whose request may have a body → name 413', () => {
    const wrong = operations().filter(
      ({ name, operation: { responses } }) => !name.startsWith('GET ') && !responses['413'],
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('operations that query the database → name 503', () => {
    const withoutDatabase = new Set(['getHealth', 'getConsoleCapabilities', 'getCliCapabilities']);
    const wrong = operations().filter(
      ({ operation: { operationId = '', responses } }) => !withoutDatabase.has(operationId) && !responses['503'],
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('operations with an optional session → declare it as optional', () => {
    const optional = operations().filter(({ operation }) =>
      operation.security?.some((one) => !Object.keys(one).length),
    );
    expect(optional.map(({ operation: { operationId, security } }) => [operationId, security])).toEqual([
      ['getSession', [{ ConsoleSession: [] }, {}]],
      ['signOut', [{ ConsoleSession: [] }, {}]],
      ['cliBrowserDetails', [{ ConsoleSession: [] }, {}]],
      ['cliBrowserSubmit', [{ ConsoleSession: [] }, {}]],
      ['cliBrowserDeny', [{ ConsoleSession: [] }, {}]],
      ['cliBrowserRegister', [{ ConsoleSession: [] }, {}]],
      ['getOauthConsentDetails', [{ ConsoleSession: [] }, {}]],
      ['allowOauthConsent', [{ ConsoleSession: [] }, {}]],
      ['continueOauthWithoutAccount', [{ ConsoleSession: [] }, {}]],
      ['denyOauthConsent', [{ ConsoleSession: [] }, {}]],
    ]);
  });

  it('references → all resolve inside the document', () => {
    const found = references(document);
    expect(found.filter((reference) => !reference.startsWith('#/') || !resolves(reference))).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
  });

  it('schemas → JSON Schema 2020-12, without keywords of another dialect', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });
    // Words that OpenAPI adds to the dialect and that only describe, and our own extensions.
    for (const word of ['example', 'discriminator', 'x-identity-presets', 'x-entitlement-presets'])
      ajv.addKeyword(word);
    // Known to the validator as a courtesy to older documents, but no word of 3.1.
    expect(JSON.stringify(document)).not.toContain('"nullable":');
    const schemas = JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/');
    ajv.addSchema({ $id: 'document', $defs: JSON.parse(schemas) });
    for (const name of Object.keys(document.components.schemas)) {
      expect(ajv.compile({ $ref: `document#/$defs/${name}` })).toEqual(expect.any(Function));
    }
  });

  it('error codes → exactly the catalogue', () => {
    const schema = JSON.stringify(document.components.schemas.ErrorResponse);
    const codes: unknown = JSON.parse(schema).properties.error.properties.code.enum;
    expect(codes).toEqual(Object.keys(ERRORS));
  });

  it('linter → no findings', async () => {
    const redocly = `${ROOT}node_modules/@redocly/cli/bin/cli.js`;
    const args = [redocly, 'lint', 'docs/openapi.json', '--config', 'redocly.yaml', '--format', 'stylish'];
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const run = promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...quiet } });
    const output = await run.then(
      () => 'valid',
      (failure: { stdout: string; stderr: string }) => failure.stdout + failure.stderr,
    );
    expect(output).toBe('valid');
  });
});
