import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createOfflineGateway } from '../../src/bootstrap/offline-gateway.js';
import { listRouteAccess } from '../../src/common/http/access.js';
import { OpenApiDocument } from '../../src/health/openapi.controller.js';

interface Described {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly (Described & { readonly in: string; readonly name: string })[];
  readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, Described>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, Described>>;
  };
}

/** Operations whose 503 is not a refusal: it reports the state of the service. */
const REPORTING = new Set(['getReadiness']);
const OF_CALLERS = new Set(['Application authentication', 'Application', 'Provider proxy', 'Named endpoints']);
const RELAYED = ['proxyProviderRequest', 'callNamedEndpoint'];

let app: NestFastifyApplication;
let document: Document;

beforeAll(async () => {
  app = await createOfflineGateway();
  document = JSON.parse(app.get(OpenApiDocument).json);
});

afterAll(() => app.close());

function operations(): Operation[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item));
}

function named(id: string): Operation {
  const found = operations().find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

/** Ids of the operations that have the header in their requests; `required` only those that must have it. */
function sending(name: string, only?: 'required'): string[] {
  const isIt = (one: NonNullable<Operation['parameters']>[number]) =>
    one.in === 'header' && one.name.toLowerCase() === name.toLowerCase() && (only === undefined || one.required);
  return operations().flatMap(({ operationId, parameters = [] }) => (parameters.some(isIt) ? [operationId] : []));
}

/** `getApp 503` for every answer of which this is so. */
function answers(isSo: (headers: readonly string[], status: string, operation: Operation) => boolean): string[] {
  return operations().flatMap((operation) =>
    Object.entries(operation.responses)
      .filter(([status, { headers = {} }]) => isSo(Object.keys(headers), status, operation))
      .map(([status]) => `${operation.operationId} ${status}`),
  );
}

/** The description of a response header in the document. */
function described(id: string, status: number | 'default', header: string): Described {
  const found = named(id).responses[status]?.headers?.[header] ?? {};
  return document.components.headers[found.$ref?.split('/').at(-1) ?? ''] ?? found;
}

function has(operation: Operation, scheme: string): boolean {
  return operation.security.some((one) => scheme in one);
}

describe('headers of the OpenAPI document', () => {
  it('bearers → none is described with a form that it does not have', () => {
    const schemes = Object.entries(document.components.securitySchemes);
    expect(schemes.filter(([, scheme]) => 'bearerFormat' in scheme)).toEqual([]);
    expect(schemes.map(([name]) => name)).toEqual(
      expect.arrayContaining(['ManagementBearer', 'GatewayBearer', 'MetricsBearer', 'ConsoleSession']),
    );
  });

  it('Retry-After → named by every refusal with 429 or 503', () => {
    const isLacking = (headers: readonly string[], status: string, { operationId }: Operation) =>
      ['429', '503'].includes(status) && !REPORTING.has(operationId) && !headers.includes('Retry-After');
    expect(answers(isLacking)).toEqual([]);
    expect(answers((headers) => headers.includes('Retry-After')).length).toBeGreaterThan(50);
  });

  it('Retry-After → promised only where it is always sent: not from providers or identity providers', () => {
    expect(described('getApp', 503, 'Retry-After').required).toBe(true);
    expect(described('exchangeGatewayToken', 429, 'Retry-After').required).toBe(true);
    expect(described('exchangeGatewayToken', 503, 'Retry-After').required).toBe(false);
    expect(described('callNamedEndpoint', 429, 'Retry-After').required).toBe(false);
  });

  it('Server-Timing → promised by every answer of relayed routes, and by no other', () => {
    const relayed = RELAYED.flatMap((id) => Object.keys(named(id).responses).map((status) => `${id} ${status}`));
    expect(answers((headers) => headers.includes('Server-Timing')).sort()).toEqual(relayed.sort());
    expect(described('proxyProviderRequest', 'default', 'Server-Timing').required).toBe(true);
  });

  it('WWW-Authenticate → named by every 401 for a missing management credential, and where a scope may be insufficient', () => {
    const isWrong = (headers: readonly string[], status: string, operation: Operation) => {
      const { security } = operation;
      const isManaged = ['ManagementBearer', 'ConsoleSession', 'MetricsBearer'].some((one) => has(operation, one));
      const isDemanded = isManaged && security.every((one) => Object.keys(one).length > 0);
      const isSignIn = ['signIn', 'signInWithPasskey', 'recover'].includes(operation.operationId);
      const isScoped = status === '403' && has(operation, 'ManagementBearer');
      const isNamed = isScoped || (status === '401' && (isDemanded || isSignIn));
      return headers.includes('WWW-Authenticate') !== isNamed;
    };
    expect(answers(isWrong)).toEqual([]);
  });

  it('Set-Cookie → promised where a session starts or ends or changes its organization', () => {
    const successes = operations().filter(({ operationId, responses }) => {
      const success = Object.keys(responses).find((status) => Number(status) < 400);
      return described(operationId, Number(success), 'Set-Cookie').required;
    });
    expect(successes.map(({ operationId }) => operationId).sort()).toEqual(
      [
        ...['changePassword', 'claimOrganization', 'cliBrowserGoogle', 'cliBrowserRegister', 'googleCallback'],
        ...['recover', 'revokeSessions', 'selectOrganization', 'signInWithPasskey', 'startPasskeySignIn'],
        ...['signIn', 'signInWithGoogle', 'signOut', 'signUp'],
      ].sort(),
    );
    expect(described('listApps', 200, 'Set-Cookie').required).toBe(false);
    expect(described('googleCallback', 302, 'Location').required).toBe(true);
  });

  it('X-App-Version → named by all routes that applications call, but those of the framework’s client, which sends none', () => {
    const called = operations().filter(
      ({ tags, operationId }) => tags.some((tag) => OF_CALLERS.has(tag)) && !/FrameworkClient/.test(operationId),
    );
    expect(sending('X-App-Version').sort()).toEqual(called.map(({ operationId }) => operationId).sort());
    expect(sending('X-App-Version', 'required')).toEqual([]);
  });

  it('the header that names a user → named wherever callers authenticate', () => {
    const proven = operations().filter((operation) => has(operation, 'GatewayBearer'));
    expect(sending('X-End-User-Id').sort()).toEqual(proven.map(({ operationId }) => operationId).sort());
  });

  it('headers of providers’ own SDKs → credentials only on the proxy’s routes', () => {
    const native = Object.entries(document.components.securitySchemes).filter(
      ([, scheme]) => Reflect.get(scheme, 'in') === 'header',
    );
    expect(native.map(([, scheme]) => Reflect.get(scheme, 'name')).sort()).toEqual(['x-api-key', 'x-goog-api-key']);
    const taking = operations().filter((operation) => native.some(([scheme]) => has(operation, scheme)));
    expect(taking.map(({ operationId }) => operationId)).toEqual(['proxyProviderRequest']);
  });

  it('headers that reach a provider → named by relayed routes', () => {
    for (const header of ['anthropic-version', 'openai-beta', 'traceparent']) {
      expect(sending(header).sort()).toEqual([...RELAYED].sort());
    }
  });

  it('Idempotency-Key and its proof → named by the creations, and passed on by relayed routes', () => {
    const creations = ['createApp', 'createAppKey', 'createProvider', 'createProviderGateway'];
    expect(sending('X-Idempotency-Proof').sort()).toEqual(creations);
    expect(sending('Idempotency-Key').sort()).toEqual([...creations, ...RELAYED].sort());
  });

  it('x-console-request → with every session; required where only a session is accepted', () => {
    const missing = operations()
      .filter(
        (operation) =>
          has(operation, 'ConsoleSession') && !sending('x-console-request').includes(operation.operationId),
      )
      .map(({ operationId }) => operationId);
    expect(missing).toEqual([]);
    const sessionsOnly = operations().filter(
      ({ security }) => security.length > 0 && security.every((one) => 'ConsoleSession' in one),
    );
    expect(sending('x-console-request', 'required').sort()).toEqual(
      sessionsOnly.map(({ operationId }) => operationId).sort(),
    );
  });

  it('X-Client → named wherever a management key is accepted', () => {
    const keyed = operations().filter((operation) => has(operation, 'ManagementBearer'));
    expect(sending('X-Client').sort()).toEqual(keyed.map(({ operationId }) => operationId).sort());
  });

  it('Origin → named by routes for first parties, required where a missing one is refused', () => {
    const described = listRouteAccess(app).filter(({ route }) => route.includes(' /v1/'));
    const expected = described.filter(({ access }) => access.firstParty);
    const exact = expected.filter(({ access }) => access.exactOrigin);
    expect(sending('Origin')).toHaveLength(expected.length);
    expect(sending('Origin', 'required')).toHaveLength(exact.length);
    expect(sending('Origin', 'required')).toContain('acceptInvitation');
  });
});
