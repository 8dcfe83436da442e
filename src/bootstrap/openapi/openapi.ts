import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../../accounts/sessions/session-cookie.rules.js';
import {
  ENTITLEMENT_PRESETS,
  IDENTITY_PRESETS,
  issuerOfPreset,
} from '../../app-directory/config/identity-presets.rules.js';
import { ERRORS } from '../../common/errors/error-catalogue.js';
import { namesOfIgnoring } from '../../common/fields/fields.js';
import { ANSWER_HEADERS } from '../../common/http/answer-headers.js';
import { VERSION } from '../../common/version.js';
import { NATIVE_CREDENTIALS } from '../../proxy/relayed-call.decorator.js';
import { EXAMPLES, FOREIGN_BODIES } from './openapi-examples.js';
import type { ExampleSource } from './openapi-examples.rules.js';
import { addAnswerHeaders, type HeadedOperation } from './openapi-headers.rules.js';
import { addExamples, addSharedErrors, type CompletedOperation } from './openapi-operations.rules.js';
import { addEventExamples, addWebhooks, EVENT_DATA } from './openapi-webhooks.js';

const DESCRIPTION = `Provider-native AI proxy and its management API.

Every response except those of provider calls and named endpoints has \`Cache-Control: no-store\`, \`Referrer-Policy: no-referrer\`, \`X-Content-Type-Options: nosniff\`, \`X-Frame-Options: DENY\`. Invalid HTTP/1.1, slow requests and headers above 32 KiB are 400, 408 or 431 before routing, with the usual body and without the operation’s headers. Every route refuses some messages with 400, 415 or 417, such as one with a repeated header, even if it lists no error.

Where an application has \`allowed_origins\`, its routes answer the preflights of browsers with 204 or 403 \`forbidden\`, and all of their answers have \`Vary: Origin\`, those to pages of these origins also \`Access-Control-Allow-Origin\` and \`Access-Control-Expose-Headers\`.`;
const PROXY_PATH = /^\/v1\/apps\/\{app\}\/proxy\//;
const TAGS: readonly [name: string, description: string][] = [
  ['Operations', 'Health, metrics and discovery.'],
  ['Console authentication', 'How people register, sign in and sign out.'],
  ['Application authentication', 'How devices and backends authenticate: challenge, registration, token.'],
  ['Application', 'What an application’s caller can read about itself.'],
  ['Provider proxy', 'Calls to AI providers in the providers’ own request formats.'],
  ['Named endpoints', 'Calls whose provider, model, parameters and fallbacks are configured by the operator.'],
  ['Admin applications', 'Applications: authentication, routing, limits.'],
  ['Admin operations', 'Keys, users, sign-ins and usage of an application.'],
  ['Admin change operations', 'Changes requested by terminals and AI clients, and the keys they issued.'],
  ['Admin management keys', 'Keys that manage an account without a person.'],
  ['Admin providers', 'Provider instances and their sealed keys.'],
  ['Admin provider gateways', 'Upstream gateways that providers are routed through, and their sealed tokens.'],
  ['Admin organizations', 'Who you are, organizations, their members, and invitations into them.'],
  ['Admin models', 'Prices of models.'],
  ['Admin webhooks', 'Endpoints that receive events.'],
  ['Console OAuth consent', 'How a person gives an OAuth client access.'],
  ['CLI', 'How a terminal gets its own key and uses it.'],
];

/** Bearer credentials by the name of their scheme. */
const BEARERS = {
  ManagementBearer: 'A management key, `gw_mgmt_…`, or the access token of a connection, `gw_oat_…`.',
  GatewayBearer:
    'A gateway token, or an application API key; also in the header that the application’s `token_header` names.',
  OperationToken: 'The token that opened the operation, created by the terminal.',
  MetricsBearer: 'The setting `METRICS_TOKEN`.',
};

/** Generates the OpenAPI 3.1.0 document from the decorators. */
export function describeApi(app: INestApplication, publicUrl: string): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('AI gateway API')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .addServer(publicUrl)
    .setExternalDoc('Guides, reference, error codes and settings.', `${publicUrl}/docs`)
    .setLicense('Proprietary', 'https://spdx.org/licenses/')
    .addCookieAuth(
      SESSION_COOKIE,
      {
        type: 'apiKey',
        in: 'cookie',
        description: `A person signed in to the console; \`${ORGANIZATION_COOKIE}\` beside it says in which organization they act.`,
      },
      'ConsoleSession',
    );
  for (const [name, description] of Object.entries(BEARERS)) {
    // `addBearerAuth` would document every bearer as a JWT.
    builder.addSecurity(name, { type: 'http', scheme: 'bearer', description });
  }
  for (const { scheme, header, label } of NATIVE_CREDENTIALS) {
    const description = `As \`GatewayBearer\`, where SDKs for ${label} send their key: on routes of such providers, without \`Authorization\`.`;
    builder.addSecurity(scheme, { type: 'apiKey', in: 'header', name: header, description });
  }
  for (const [name, description] of TAGS) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), { extraModels: EVENT_DATA });
  return completeOperations(
    closeRequests(addWebhooks(withIssuerPresets(withErrorSchema(sayWhatIsPublic(onlyPostOnProxy(document)))))),
  );
}

/** Adds shared errors, response headers and body examples to every operation. */
function completeOperations(document: OpenAPIObject): OpenAPIObject {
  const schemas = (document.components?.schemas ?? {}) as ExampleSource['schemas'];
  document.components = { ...document.components, headers: { ...ANSWER_HEADERS } };
  for (const { get, put, post, delete: remove, patch } of Object.values(document.paths)) {
    for (const operation of [get, put, post, remove, patch]) {
      if (operation === undefined) continue;
      addSharedErrors(operation as CompletedOperation, operation !== get);
      addAnswerHeaders(operation as HeadedOperation);
      addExamples(
        operation as CompletedOperation,
        { schemas, ...EXAMPLES },
        FOREIGN_BODIES[operation.operationId ?? ''],
      );
    }
  }
  addEventExamples(document, { schemas, ...EXAMPLES });
  return document;
}

/** The proxy accepts any method, but every call has a body: the document shows only POST. */
function onlyPostOnProxy(document: OpenAPIObject): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    if (!PROXY_PATH.test(path)) continue;
    if (path.endsWith('{provider}')) delete document.paths[path];
    else document.paths[path] = { post: item.post };
  }
  return document;
}

/** Marks public operations explicitly: a missing `security` list could be an omission. */
function sayWhatIsPublic(document: OpenAPIObject): OpenAPIObject {
  for (const { get, put, post, delete: remove, patch } of Object.values(document.paths)) {
    for (const operation of [get, put, post, remove, patch]) {
      if (operation) operation.security ??= [];
    }
  }
  return document;
}

function withErrorSchema(document: OpenAPIObject): OpenAPIObject {
  document.components ??= {};
  document.components.schemas ??= {};
  document.components.schemas.ErrorResponse = {
    type: 'object',
    required: ['error'],
    additionalProperties: false,
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        additionalProperties: false,
        properties: {
          code: { type: 'string', enum: Object.keys(ERRORS) },
          message: { type: 'string' },
          data: {
            type: 'object',
            additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
          },
        },
      },
    },
  };
  return document;
}

/** Adds the settings of common identity providers to the issuer's schema, as examples and as form templates. */
function withIssuerPresets(document: OpenAPIObject): OpenAPIObject {
  const issuer = document.components?.schemas?.AppIssuer;
  if (issuer === undefined) throw new Error('The schema AppIssuer is gone.');
  Object.assign(issuer, {
    examples: IDENTITY_PRESETS.map((preset) => issuerOfPreset(preset)),
    'x-identity-presets': IDENTITY_PRESETS,
    'x-entitlement-presets': ENTITLEMENT_PRESETS,
  });
  return document;
}

/** Documents that requests refuse unknown members, and that responses have no undocumented ones. */
function closeRequests(document: OpenAPIObject): OpenAPIObject {
  const open = namesOfIgnoring();
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    if (!('properties' in schema) || schema.additionalProperties !== undefined) continue;
    schema.additionalProperties = open.has(name);
  }
  return document;
}
