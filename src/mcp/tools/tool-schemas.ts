import type { JSONObject } from '@modelcontextprotocol/server';
import type { INestApplication, Type } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Tool } from './tool.js';
import { isCredentialName } from './tool-arguments.rules.js';

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

/** A class that is no module, so that the document of the schemas has no routes. */
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
    this.#schemas = JSON.parse(text);
  }

  /** The schema of all arguments of a tool. */
  argumentsOf({ app, named = {}, optional = {}, confirms, inside, input, forms }: Tool): ObjectSchema {
    const { properties = {}, required = [] } = withoutCredentials(this.#of(input.name));
    const own =
      inside === undefined
        ? properties
        : {
            [inside]:
              forms === undefined ? held({ properties, required }) : { oneOf: forms.map((form) => this.#form(form)) },
          };
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

  #form(type: Type<object>): JSONObject {
    return held(withoutCredentials(this.#of(type.name)));
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
