/** Members of a JSON object that was parsed and not checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** False for arrays, null and everything that is not an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
