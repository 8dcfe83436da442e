import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { JsonObject, JsonValue } from './app-config.js';
import { memberPath, objectEntries, type Read, requireSafeKey, requireStorableText } from './config-reader.js';

/** Levels of objects and lists in free JSON, the outermost included. */
export const MAX_JSON_DEPTH = 40;

/** Free JSON, the same object: at most `MAX_JSON_DEPTH` levels, with no prototype name and no NUL at any of them. */
export const jsonObject: Read<JsonObject> = (value, path) => {
  requireJsonObject(value, path, 1);
  return value;
};

function requireJsonObject(value: unknown, path: string, depth: number): asserts value is JsonObject {
  for (const [key, entry] of objectEntries(value, path)) {
    const entryPath = memberPath(path, key);
    requireSafeKey(key, entryPath);
    requireJson(entry, entryPath, depth + 1);
  }
}

function requireJson(value: unknown, path: string, depth: number): asserts value is JsonValue {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') return requireStorableText(value, path);
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object') throw invalidRequest(path, 'must be a JSON value');
  if (depth > MAX_JSON_DEPTH) throw invalidRequest(path, `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!Array.isArray(value)) return requireJsonObject(value, path, depth);
  for (const [index, entry] of value.entries()) requireJson(entry, memberPath(path, String(index)), depth + 1);
}
