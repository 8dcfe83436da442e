/** A parsed JSON object of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for arrays, null and everything else. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member; inherited names such as `constructor` are absent. */
export function memberOf(parent: JsonObject | undefined, name: string): unknown {
  return parent !== undefined && Object.hasOwn(parent, name) ? parent[name] : undefined;
}

/** An own member that is an object. */
export function objectIn(parent: JsonObject | undefined, name: string): JsonObject | undefined {
  const member = memberOf(parent, name);
  return isJsonObject(member) ? member : undefined;
}

/** An own member that is a list, without its elements that are no objects. */
export function objectsIn(parent: JsonObject | undefined, name: string): JsonObject[] | undefined {
  const member = memberOf(parent, name);
  return Array.isArray(member) ? member.filter(isJsonObject) : undefined;
}

/** An own member that is a non-empty string of at most `maxLength` characters. */
export function textIn(parent: JsonObject | undefined, name: string, maxLength: number): string | undefined {
  const member = memberOf(parent, name);
  return typeof member === 'string' && member !== '' && member.length <= maxLength ? member : undefined;
}

/** An own member that is a number of at least zero, `1e999` included, which is infinite; strings are none. */
export function measureIn(parent: JsonObject | undefined, name: string): number | undefined {
  const member = memberOf(parent, name);
  // Adding zero turns a negative zero into zero.
  return typeof member === 'number' && member >= 0 ? member + 0 : undefined;
}

/** No answer uses more of anything: what is above it is a defect of the provider, or an attack on our sums. */
export const MOST_OF_ANYTHING = 1_000_000_000;

/**
 * Like {@link measureIn}, truncated to an integer; infinite when it is above {@link MOST_OF_ANYTHING}, so that whatever is
 * made of it is seen to be no usage.
 */
export function counterIn(parent: JsonObject | undefined, name: string): number | undefined {
  const measure = measureIn(parent, name);
  if (measure === undefined) return undefined;
  return measure > MOST_OF_ANYTHING ? Number.POSITIVE_INFINITY : Math.trunc(measure);
}

/** As much of a bucket as a part of it can be; infinite when the part is. */
export function partOf(bucket: number, part: number): number {
  return part === Number.POSITIVE_INFINITY ? part : Math.max(0, Math.min(bucket, part));
}

/** The first of several spellings that is a counter. */
export function firstCounterIn(parent: JsonObject | undefined, names: readonly string[]): number | undefined {
  for (const name of names) {
    const counter = counterIn(parent, name);
    if (counter !== undefined) return counter;
  }
  return undefined;
}

/** JSON text as a value; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
