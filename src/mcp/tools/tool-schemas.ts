import type { JSONArray, JSONObject, JSONValue } from '@modelcontextprotocol/server';
import type { INestApplication, Type } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Tool } from './tool.js';
import { isCredentialName } from './tool-arguments.rules.js';
import { isJsonObject } from './tool-maps.rules.js';

const IN_DOCUMENT = '#/components/schemas/';
const IN_TOOL = '#/$defs/';
const REFERENCE = /"#\/\$defs\/(\w+)"/g;

/** JSON Schema 2020-12 of an object. */
export interface ObjectSchema {
  [word: string]: unknown;
  type: 'object';
  properties?: JSONObject;
  required?: string[];
}

type HeldMembers = Required<Pick<ObjectSchema, 'properties' | 'required'>>;

/** A class that is not a module, so that the document of the schemas has no routes. */
class NoModule {}

/** JSON Schemas of request classes, from the metadata that the OpenAPI document is made of. */
export class RequestSchemas {
  readonly #schemas: Readonly<Record<string, JSONObject>>;

  constructor(app: INestApplication, types: readonly Type<object>[]) {
    const document = SwaggerModule.createDocument(app, new DocumentBuilder().setOpenAPIVersion('3.1.0').build(), {
      include: [NoModule],
      extraModels: [...types],
    });
    const text = JSON.stringify(document.components?.schemas ?? {}).replaceAll(IN_DOCUMENT, IN_TOOL);
    this.#schemas = JSON.parse(text, (_member, value) => ofOneType(value));
  }

  /** The schema of all arguments of a tool. */
  argumentsOf({ app, named = {}, optional = {}, confirms, inside, input, forms = [input] }: Tool): ObjectSchema {
    const { properties, required } = merged(forms.map(({ name }) => withoutCredentials(this.#of(name))));
    const own = inside === undefined ? properties : { [inside]: held({ properties, required }) };
    const names = [...(app === 'required' ? ['app'] : []), ...Object.keys(named)];
    const arguments_: JSONObject = {
      ...(app !== 'none' && { app: text('Id of the application.') }),
      ...Object.fromEntries(Object.entries(named).map(([name, description]) => [name, text(description)])),
      ...own,
      ...Object.fromEntries(Object.entries(optional).map(([name, description]) => [name, text(description)])),
      ...(confirms !== undefined && { confirm: text(`The same as \`${confirms}\`.`) }),
    };
    const needed = [...names, ...(inside === undefined ? required : [inside]), ...(confirms ? ['confirm'] : [])];
    const definitions = this.#referredBy(arguments_);
    return closed({
      type: 'object',
      properties: arguments_,
      ...(needed.length > 0 && { required: needed }),
      ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
    });
  }

  #of(name: string): ObjectSchema {
    return closed({ type: 'object', ...this.#schemas[name] });
  }

  /** The schemas that this one refers to, and those that they refer to. */
  #referredBy(schema: object, found: Record<string, object> = {}): Record<string, object> {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(REFERENCE)) {
      if (name in found) continue;
      found[name] = this.#of(name);
      this.#referredBy(found[name], found);
    }
    return found;
  }
}

/** The members of several forms: all of them; those that every form has are required. */
function merged(forms: readonly HeldMembers[]): HeldMembers {
  const properties: JSONObject = {};
  for (const [name, schema] of forms.flatMap((form) => Object.entries(form.properties))) {
    properties[name] = withWordsOf(properties[name], schema);
  }
  const [first, ...others] = forms;
  const required = (first?.required ?? []).filter((name) => others.every((form) => form.required.includes(name)));
  return { properties, required };
}

/** A schema with the words of an enumeration that another form of the same member has. */
function withWordsOf(known: JSONValue | undefined, schema: JSONValue): JSONValue {
  const words = wordsOf(known);
  if (words.length === 0) return schema;
  return { ...(schema as JSONObject), enum: [...new Set([...words, ...wordsOf(schema)])] };
}

function wordsOf(schema: JSONValue | undefined): JSONArray {
  const words = isJsonObject(schema) ? schema.enum : undefined;
  return Array.isArray(words) ? words : [];
}

/**
 * A schema with one type, for clients that support no others: without null, and of a value or a list of them the list.
 * The route accepts all that it documents.
 */
function ofOneType(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type, oneOf, ...rest } = schema;
  if (Array.isArray(type)) return { ...rest, type: type.find((word) => word !== 'null') ?? 'null' };
  if (!Array.isArray(oneOf) || oneOf.every((form) => isJsonObject(form) && '$ref' in form)) return schema;
  const richest = oneOf.find((form) => isJsonObject(form) && ('$ref' in form || form.type === 'array')) ?? oneOf[0];
  return isJsonObject(richest) ? { ...rest, ...richest } : schema;
}

/** The schema of an argument that holds all members of a body. */
function held({ properties, required }: HeldMembers): JSONObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

function text(description: string): JSONObject {
  return { type: 'string', description };
}

/** Request classes refuse what they do not declare. */
function closed(schema: ObjectSchema): ObjectSchema {
  return schema.properties === undefined ? schema : { additionalProperties: false, ...schema };
}

function withoutCredentials({ properties = {}, required = [] }: ObjectSchema): HeldMembers {
  const isKept = (name: string) => !isCredentialName(name);
  return {
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isKept(name))),
    required: required.filter(isKept),
  };
}
