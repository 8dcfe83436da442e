import { invalidRequest } from '../../common/errors/gateway-error.js';
import {
  described,
  memberPath,
  objectEntries,
  type Read,
  requireStorableText,
} from '../../common/fields/config-values.js';

/** Any JSON value. */
type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object exactly as parsed. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** Maximum nesting of objects and lists in free JSON, including the outermost. */
export const MAX_JSON_DEPTH = 40;

/** The only member name that some JSON readers do not treat as plain data. */
const INERT_NAME = '__proto__';

/**
 * A copy of free JSON: at most `MAX_JSON_DEPTH` levels, and no NUL. Members named `__proto__` are removed at every
 * depth; every other name, including `constructor`, is plain data.
 *
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
export const jsonObject: Read<JsonObject> = described({ type: 'object', additionalProperties: true }, (value, path) =>
  readObject(value, path, 1),
);

function readObject(value: unknown, path: string, depth: number): JsonObject {
  const members = objectEntries(value, path).filter(([key]) => key !== INERT_NAME);
  return Object.fromEntries(
    members.map(([key, entry]): [string, JsonValue] => {
      const entryPath = memberPath(path, key);
      requireStorableText(key, entryPath);
      return [key, readValue(entry, entryPath, depth + 1)];
    }),
  );
}

function readValue(value: unknown, path: string, depth: number): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    requireStorableText(value, path);
    return value;
  }
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw invalidRequest(path, 'must be a JSON value');
  if (depth > MAX_JSON_DEPTH) throw invalidRequest(path, `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!Array.isArray(value)) return readObject(value, path, depth);
  return Array.from(value, (entry: unknown, index) => readValue(entry, memberPath(path, String(index)), depth + 1));
}
