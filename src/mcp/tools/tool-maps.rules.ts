import type { JSONObject } from '@modelcontextprotocol/server';

const DEFINITIONS = '#/$defs/';
const JSON_SCHEMA_MEMBERS = 'properties';

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether the object at a path of the arguments is a map, whose keys the caller chooses; also the `properties` of a
 * JSON Schema in the parameters of an endpoint.
 *
 * @param schema of all arguments, of `argumentsOf`.
 * @param path of the object, from the arguments down.
 */
export function isMapAt(schema: object, path: readonly string[]): boolean {
  if (path.at(-1) === JSON_SCHEMA_MEMBERS) return true;
  if (!isJsonObject(schema)) return false;
  const definitions = isJsonObject(schema.$defs) ? schema.$defs : {};
  const formsOf = (form: JSONObject) => resolved(form, definitions);
  let forms = formsOf(schema);
  for (const member of path) forms = forms.flatMap((form) => below(form, member)).flatMap(formsOf);
  return forms.some(({ additionalProperties }) => isJsonObject(additionalProperties));
}

/** A schema, or those that it chooses from, without references. */
function resolved(form: JSONObject, definitions: JSONObject): readonly JSONObject[] {
  const { $ref, oneOf, allOf } = form;
  const target = typeof $ref === 'string' ? definitions[$ref.slice(DEFINITIONS.length)] : undefined;
  const choices = [target, ...(Array.isArray(oneOf) ? oneOf : []), ...(Array.isArray(allOf) ? allOf : [])];
  return [form, ...choices.filter(isJsonObject).flatMap((choice) => resolved(choice, definitions))];
}

function below({ properties, additionalProperties, items }: JSONObject, member: string): readonly JSONObject[] {
  const named = isJsonObject(properties) && Object.hasOwn(properties, member) ? properties[member] : undefined;
  return [named ?? additionalProperties, items].filter(isJsonObject);
}
