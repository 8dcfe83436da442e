import type { ApiStyle } from '../api-style.rules.js';
import { type JsonObject, memberOf, objectIn } from './json-fields.rules.js';

const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const ID_IN_EVENT = /"response"\s{0,16}:\s{0,16}\{\s{0,16}"id"\s{0,16}:\s{0,16}"([\x21\x23-\x5b\x5d-\x7e]{1,256})"/;
const ID_AT_ROOT = /^\s{0,16}\{\s{0,16}"id"\s{0,16}:\s{0,16}"([\x21\x23-\x5b\x5d-\x7e]{1,256})"/;

/**
 * Whether an answer may contain a provider-side response object; `other` includes Responses paths without a named
 * style.
 */
export function mayHaveResponseId(style: ApiStyle): boolean {
  return style === 'responses' || style === 'other';
}

/** The id of the response object in a stream event or a complete answer of the Responses API. */
export function responseIdOf(style: ApiStyle, document: JsonObject): string | undefined {
  if (!mayHaveResponseId(style)) return undefined;
  const response = objectIn(document, 'response');
  const isResponse = style === 'responses' || memberOf(document, 'object') === 'response';
  const id = response === undefined && isResponse ? memberOf(document, 'id') : memberOf(response, 'id');
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}

/**
 * Finds the id in the first bytes of an event that is truncated or too long to parse; the id must be the first member.
 */
export function responseIdInEventHead(head: string): string | undefined {
  return ID_IN_EVENT.exec(head)?.[1];
}

/** Finds the id in the first bytes of a Responses document; the id must be the first member. */
export function responseIdInDocumentHead(head: string): string | undefined {
  return ID_AT_ROOT.exec(head)?.[1];
}
