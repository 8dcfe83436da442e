import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import { validateTranscriptionFormat } from '../body/cost-members.rules.js';
import { isFormType } from '../forms/form-shape.rules.js';
import { type FormPart, findFormField } from '../forms/multipart-form.js';

/** The transcription target, as far as it affects the form. */
export interface TranscriptionTarget {
  readonly type: ProviderType;
  /** Model name at the provider. */
  readonly model: string;
}

/**
 * Requires a form as the body of a transcription.
 *
 * @param contentType the request's header, empty when absent.
 * @throws invalid_request the body is not a form.
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
export function requireTranscriptionForm(contentType: string): void {
  if (!isFormType(contentType)) {
    throw invalidRequest('body', 'send a transcription as multipart/form-data, with the audio as "file"');
  }
}

/**
 * Requires the audio file of a transcription.
 *
 * @throws invalid_request the form has no file named `file`.
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
export function requireFile(parts: readonly FormPart[]): void {
  const named = parts.filter(({ name }) => name === 'file');
  if (named.some(({ fileName }) => fileName !== undefined)) return;
  const found = named.length === 0 ? 'missing' : 'a plain field';
  throw invalidRequest('file', `${found}; send the audio as a file of this name, with a file name`);
}

/** Types whose parser requires every plain field before the audio. */
const FILES_LAST: ReadonlySet<ProviderType> = new Set(['xai']);

/** The parts in the order that the type requires; otherwise as sent. */
export function inOrderFor(type: ProviderType, parts: readonly FormPart[]): readonly FormPart[] {
  if (!FILES_LAST.has(type)) return parts;
  const [fields, files] = [parts.filter((part) => !isFile(part)), parts.filter(isFile)];
  return [...fields, ...files];
}

function isFile({ fileName }: FormPart): boolean {
  return fileName !== undefined;
}

/**
 * Returns the form fields to set for one target; all others are sent unchanged. The client's `model` is overwritten.
 * Its `response_format` is validated per target, because targets differ in which formats can be priced.
 *
 * @throws invalid_request an answer in the requested format cannot be priced.
 * Source: docs/reference/application-api.md#bodies, docs/reference/application-api.md#endpoint-bodies.
 */
export function composeTranscription(
  parts: readonly FormPart[],
  { type, model }: TranscriptionTarget,
): ReadonlyMap<string, string> {
  const format = findFormField(parts, 'response_format');
  const { set } = validateTranscriptionFormat(type, format);
  const fields = new Map([['model', model]]);
  if (set !== undefined) fields.set('response_format', set);
  return fields;
}
