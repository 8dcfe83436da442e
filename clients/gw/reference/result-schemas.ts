import { type Command, members } from '../program/command.js';

/** The part of an OpenAPI document that is used. */
interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Answer>> }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}

const TEXT_OR_NULL = { type: ['string', 'null'] };
const CONTEXT = members({ url: TEXT_OR_NULL, accountId: TEXT_OR_NULL });
const FAILURE = members({
  ...{ schemaVersion: { const: 1 }, ok: { const: false }, context: CONTEXT },
  error: members({
    ...{ code: { type: 'string' }, message: { type: 'string' }, nextAction: TEXT_OR_NULL },
    details: { type: ['object', 'null'] },
  }),
});

/** The name of a command in the schemas. */
const schemaNameOf = (name: string) => name.replaceAll(' ', '-');

/** One schema with the documents of all commands as `$defs`, and those of failures as `failure`. */
export function resultSchemas(commands: readonly Command[], document: OpenApi): object {
  const openapi = openTypes(document, providerTypesIn(document)) as OpenApi;
  const envelopes = Object.fromEntries(
    commands.map(({ name, result }) => [
      schemaNameOf(name),
      members({
        schemaVersion: { const: 1 },
        ok: { const: true },
        context: CONTEXT,
        result: filled(result, openapi) as object,
      }),
    ]),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Documents that gw prints with --json',
    anyOf: [...Object.keys(envelopes), 'failure'].map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: { ...envelopes, failure: FAILURE, ...componentsOf(envelopes, openapi) },
  };
}

/** The types of providers that the document knows, as one text. */
function providerTypesIn({ components }: OpenApi): string {
  const { properties } = Object(components.schemas.OfferedProvider);
  return JSON.stringify(Object(properties).type.enum);
}

/** A deployment may offer more types of providers: simulated ones, and those of extensions. */
function openTypes(value: unknown, types: string): unknown {
  if (Array.isArray(value)) return value.map((one) => openTypes(one, types));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== 'enum' || JSON.stringify(member) !== types);
  return Object.fromEntries(members.map(([name, member]) => [name, openTypes(member, types)]));
}

/** A schema with the responses of operations in place of their names. */
function filled(schema: unknown, openapi: OpenApi): unknown {
  if (Array.isArray(schema)) return schema.map((one) => filled(one, openapi));
  if (typeof schema !== 'object' || schema === null) return schema;
  const operation = 'x-answer' in schema ? String(schema['x-answer']) : undefined;
  if (operation !== undefined) return local(answerOf(operation, openapi));
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, filled(value, openapi)]));
}

function answerOf(operation: string, { paths }: OpenApi): object {
  const [method = '', path = ''] = operation.split(' ');
  const responses = paths[path]?.[method.toLowerCase()]?.responses ?? {};
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const schema = success?.content?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`${operation} has no answer in the OpenAPI document.`);
  return schema;
}

/** The components that schemas refer to, directly or indirectly. */
function componentsOf(schemas: object, { components }: OpenApi): object {
  const found: Record<string, unknown> = {};
  const look = (schema: unknown) => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([A-Z]\w*)"/g)) {
      if (name in found) continue;
      const component = components.schemas[name];
      if (component === undefined) throw new Error(`The OpenAPI document has no schema ${name}.`);
      found[name] = local(component);
      look(found[name]);
    }
  };
  look(schemas);
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** References of the OpenAPI document as those of this one, without OpenAPI-only members. */
function local(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(local);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => name !== 'discriminator' && !name.startsWith('x-'));
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string' ? value.replace('#/components/schemas/', '#/$defs/') : local(value),
    ]),
  );
}
