/**
 * Writes what the clients know about the API from `docs/openapi.json`: for the console the types of its requests and
 * answers and the presets of identity providers, for `gw` the schemas of successful answers and of configuration files.
 * `npm run check -- api` (`--check`) fails where the files are not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url);
const ROOT = new URL('../../', import.meta.url);
/** Descriptions in schemas. */
const WORDS = new Set(['description', 'example', 'examples', 'x-identity-presets']);
const isSuccess = ([status]) => status.startsWith('2');

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const presets = document.components.schemas.AppIssuer['x-identity-presets'];
const { schemas } = document.components;
const answers = answerSchemas();
for (const operations of Object.values(document.paths)) {
  for (const operation of Object.values(operations)) simplify(operation);
}

const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const files = {
  'docs/schemas/app.schema.json': pretty(appFileSchema()),
  'docs/schemas/providers.schema.json': pretty(providersFileSchema()),
  'docs/schemas/environment.schema.json': pretty(environmentFileSchema()),
  'docs/schemas/prices.schema.json': pretty(pricesFileSchema()),
  'clients/console/src/api/schema.d.ts': `${astToString(await openapiTS(document))}`,
  'clients/gw/api/answers.json': `${JSON.stringify(answers)}\n`,
  'clients/console/src/api/identity-presets.json': `${JSON.stringify(presets, null, 2)}\n`,
};
const isCheck = process.argv.includes('--check');
const stale = Object.entries(files).filter(([name, text]) => contentOf(new URL(name, ROOT)) !== text);
for (const [name, text] of stale) if (!isCheck) writeFileSync(new URL(name, ROOT), text);
if (isCheck && stale.length > 0) {
  const names = stale.map(([name]) => name).join(', ');
  process.stderr.write(`Not what docs/openapi.json says: ${names}. Run npm run docs.\n`);
  process.exitCode = 1;
}

/** A file of `gw export` that holds an application. */
function appFileSchema() {
  const { name, handle, status } = schemas.CreateAppRequest.properties;
  const from = { ...handle, type: 'string' };
  return {
    ...{ $schema: SCHEMA_DIALECT, title: 'An application of the gateway', type: 'object' },
    properties: variableMembers({
      name: { ...name, description: 'For people.' },
      handle: { ...handle, type: 'string', description: 'Names the application: a handle, or the id of one without.' },
      status: { ...status, description: '`active` when absent.' },
      config: { $ref: '#/$defs/AppConfig' },
      moved: {
        type: 'object',
        properties: { from: { oneOf: [from, { type: 'array', minItems: 1, items: from }] } },
        ...{ required: ['from'], additionalProperties: false },
        description: 'Handles that it had before: it is renamed, and not created.',
      },
    }),
    required: ['name', 'handle', 'config'],
    ...{ additionalProperties: false, $defs: { ...withVariables(definitions('AppConfig')), Variable: variable() } },
  };
}

/** `environments/<name>.yaml`: what one environment overrides in the other files. */
function environmentFileSchema() {
  const { name, config, status } = appFileSchema().properties;
  const { properties } = providersFileSchema().properties.providers.items;
  const { slug: _slug, type: _type, moved: _moved, ...provider } = properties;
  const overlays = (members, description) => ({
    type: 'object',
    additionalProperties: {
      anyOf: [patch({ type: 'object', properties: members, additionalProperties: false }), { type: 'null' }],
    },
    description,
  });
  const $defs = Object.fromEntries(
    Object.entries({ ...appFileSchema().$defs, ...providersFileSchema().$defs }).map(([key, value]) => [
      key,
      patch(value),
    ]),
  );
  const { AppConfig, ...others } = $defs;
  return {
    ...{ $schema: SCHEMA_DIALECT, title: 'An environment of a directory of gw', type: 'object' },
    properties: {
      url: { type: 'string', format: 'uri', description: 'The only gateway that it is for.' },
      account: { type: 'string', minLength: 1, description: 'The id of the only account that it is for.' },
      variables: {
        ...{ type: 'object', propertyNames: { pattern: '^[A-Za-z]\\w*$' } },
        description: 'Values by name, for the texts of the other files.',
      },
      apps: overlays({ name, status, config }, 'Over applications, by handle (RFC 7396). Null: not here.'),
      providers: overlays(provider, 'Over providers, by slug (RFC 7396). Null: not here.'),
    },
    ...{ additionalProperties: false, $defs: { AppConfig, ...others } },
  };
}

/** A schema of overrides: nothing is required, and null removes a member. */
function patch(schema) {
  if (Array.isArray(schema)) return schema.map(patch);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required, oneOf, properties, ...others } = schema;
  return {
    ...Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, name === 'examples' ? value : patch(value)]),
    ),
    ...(Array.isArray(required) ? {} : required !== undefined && { required: patch(required) }),
    ...(oneOf !== undefined && { anyOf: patch(oneOf) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, { anyOf: [patch(value), { type: 'null' }] }]),
      ),
    }),
  };
}

/** A schema whose members may be a variable: a text that is only a variable stands for any value. */
function withVariables(schema) {
  if (Array.isArray(schema)) return schema.map(withVariables);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'properties' ? variableMembers(value) : name === 'examples' ? value : withVariables(value),
    ]),
  );
}

function variableMembers(properties) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => {
      const { description, ...rest } = withVariables(value);
      const isAnyText = rest.type === 'string' && rest.enum === undefined && rest.pattern === undefined;
      const told = description === undefined ? {} : { description };
      return [name, isAnyText ? { ...rest, ...told } : { anyOf: [rest, { $ref: '#/$defs/Variable' }], ...told }];
    }),
  );
}

/** A text that is only a variable. */
function variable() {
  return { type: 'string', pattern: '^\\$\\{[A-Za-z]\\w*\\}$', description: 'Of the environment.' };
}

/** The file of `gw export` that holds the providers. */
function providersFileSchema() {
  const { slug, type, name, baseUrl, gatewayRoute, pricing } = schemas.CreateProviderRequest.properties;
  const providerGateway = { type: 'string', description: 'Name of the provider gateway that has the key.' };
  const status = { type: 'string', enum: ['active', 'disabled'], description: '`active` when absent.' };
  const secret = {
    type: 'object',
    properties: {
      env: { type: 'string', pattern: '^[A-Za-z_]\\w*$', description: 'Name of an environment variable.' },
      file: { type: 'string', pattern: '^(?:/|[A-Za-z]:)', description: 'Absolute path of a file.' },
    },
    oneOf: [{ required: ['env'] }, { required: ['file'] }],
    additionalProperties: false,
    description: 'Where its key is, read when it is sent. GW_PROVIDER_SECRET_<SLUG> when absent.',
  };
  const from = { type: 'string', pattern: slug.pattern };
  const moved = {
    type: 'object',
    properties: { from: { oneOf: [from, { type: 'array', minItems: 1, items: from }] } },
    ...{ required: ['from'], additionalProperties: false },
    description: 'Slugs of providers that it takes the place of: they are removed after the applications are changed.',
  };
  const provider = {
    type: 'object',
    properties: local({ slug, type, name, status, baseUrl, providerGateway, gatewayRoute, pricing, secret, moved }),
    required: ['slug', 'type', 'name'],
    additionalProperties: false,
  };
  const defined = withVariables(definitions(...namesIn(local(provider))));
  return {
    ...{ $schema: SCHEMA_DIALECT, title: 'The providers of a gateway account', type: 'object' },
    properties: { providers: { type: 'array', items: withVariables(provider) } },
    ...{ required: ['providers'], additionalProperties: false, $defs: { ...defined, Variable: variable() } },
  };
}

/** `PRICES_FILE`. */
function pricesFileSchema() {
  const types = schemas.OfferedProvider.properties.type.enum;
  const models = {
    type: 'object',
    propertyNames: { pattern: '^\\S(?:.{0,198}\\S)?$' },
    additionalProperties: { $ref: '#/$defs/BillablePrice' },
  };
  const alone = ['per_minute', 'per_hour', 'per_image', 'per_request', 'per_1k_characters'];
  const anyOf = [...alone.map((rate) => ({ required: [rate] })), { required: ['input', 'output'] }];
  const { ModelPriceResponse: price, ...others } = definitions('ModelPriceResponse');
  return {
    ...{ $schema: SCHEMA_DIALECT, title: 'Prices of the models of a gateway', type: 'object' },
    properties: {
      prices: {
        type: 'object',
        properties: Object.fromEntries(types.map((type) => [type, { $ref: '#/$defs/Models' }])),
        additionalProperties: false,
      },
    },
    ...{ required: ['prices'], additionalProperties: false },
    $defs: { Models: models, BillablePrice: { ...price, anyOf }, ...others },
  };
}

/** Schemas, with the schemas they refer to. */
function definitions(...names) {
  const found = {};
  const look = (name) => {
    if (found[name] !== undefined) return;
    found[name] = local(schemas[name]);
    namesIn(found[name]).forEach(look);
  };
  names.forEach(look);
  return found;
}

function namesIn(schema) {
  return [...JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name]) => name);
}

/** References of the OpenAPI document as those of one schema. */
function local(schema) {
  if (Array.isArray(schema)) return schema.map(local);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (isProviderType(schema)) {
    const { enum: examples, ...others } = schema;
    return { ...others, examples };
  }
  const kept = Object.entries(schema).filter(([name]) => name !== 'discriminator' && !name.startsWith('x-'));
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === '$ref' ? value.replace('#/components/schemas/', '#/$defs/') : local(value),
    ]),
  );
}

/** A deployment may offer more types of providers than this document knows: simulated ones, and those of extensions. */
function isProviderType({ enum: values }) {
  return Array.isArray(values) && values.join() === schemas.OfferedProvider.properties.type.enum.join();
}

function pretty(schema) {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Refusals have one shape, which `api-error.ts` reads, and no caller sets headers of its own. */
function simplify(operation) {
  operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(isSuccess));
  for (const response of Object.values(operation.responses)) delete response.headers;
  operation.parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header');
}

/** Schemas of successful JSON answers by method and path. Members that a newer server adds are valid. */
function answerSchemas() {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const [, response] = Object.entries(responses).find(isSuccess) ?? [];
      const schema = response?.content?.['application/json']?.schema;
      return schema === undefined ? [] : [[`${method.toUpperCase()} ${path}`, open(schema)]];
    }),
  );
  return { operations: Object.fromEntries(operations), components: { schemas: open(document.components.schemas) } };
}

function open(schema) {
  if (Array.isArray(schema)) return schema.map(open);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (isProviderType(schema)) return { type: 'string' };
  const kept = Object.entries(schema).filter(([name, value]) => {
    const isWords = WORDS.has(name) && (typeof value === 'string' || name !== 'description');
    return !isWords && name !== 'discriminator' && !(name === 'additionalProperties' && value === false);
  });
  return Object.fromEntries(kept.map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, open(value)]));
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
