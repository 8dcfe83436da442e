import { isUtf8 } from 'node:buffer';
import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { Ids } from '../../common/ids.js';

/**
 * Limits of one form.
 * Source: docs/reference/security.md#bounded-work; docs/reference/application-api.md#order-of-checks for the whole
 * body.
 */
export const FORM_LIMITS = {
  parts: 64,
  files: 16,
  headersPerPart: 8,
  headerBytesPerPart: 8 * 1024,
  fieldBytes: 1_000_000,
  fileBytes: 20 * 1024 * 1024,
} as const;

/** One part as its header block describes it. `start` and `end` are the byte offsets of its content. */
export interface PartShape {
  readonly isFile: boolean;
  /** As sent, parameters included. */
  readonly contentType: string | undefined;
  /** Offset of the header block, which ends with an empty line at `start`. */
  readonly headStart: number;
  readonly start: number;
  readonly end: number;
}

const CRLF = '\r\n';
const HEADERS_END = '\r\n\r\n';
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const CHARSET = '(?:;[ \\t]*charset="?utf-?8"?[ \\t]*)?';
const FORM_TYPE = new RegExp(
  `^multipart/form-data[ \\t]*${CHARSET};[ \\t]*boundary=(?:([\\w'+.-]{1,70})|"([\\w'()+,./:=? -]{1,70})")[ \\t]*${CHARSET}$`,
  'i',
);
const HEADER = new RegExp(`^(${TOKEN}):[ \\t]?(.*)$`);
const FIELD_NAME = '(?:"[^"\\\\%]+"|[\\w!#$&+.^|~-]+)';
const FILE_NAME = `(?:"[^"\\\\]*"|${TOKEN})`;
const DISPOSITION = new RegExp(
  `^form-data;[ \\t]*name=${FIELD_NAME}(;[ \\t]*filename=${FILE_NAME}(?:;[ \\t]*filename\\*=${TOKEN})?)?$`,
  'i',
);
const PLAIN_CHARSET = /charset\s*=\s*"?(?:utf-?8|us-ascii)"?\s*(?:;|$)/i;
const PLAIN_ENCODING = /^(?:7bit|8bit|binary)$/i;

function broken(problem: string, at: number): GatewayError {
  return invalidRequest('body', `not a readable form: ${problem} at byte ${at}`);
}

/**
 * Returns the boundary in a form's content type.
 *
 * @throws invalid_request the boundary is missing, or the header has more than one reading.
 */
export function parseFormBoundary(contentType: string): string {
  const match = FORM_TYPE.exec(contentType.trim());
  const boundary = match?.[1] ?? match?.[2];
  if (boundary !== undefined && !boundary.endsWith(' ')) return boundary;
  throw invalidRequest('content-type', 'must be multipart/form-data with one boundary');
}

function parseHeaders(block: Buffer, at: number): Map<string, string> {
  if (!isUtf8(block)) throw broken('a part header that is not UTF-8', at);
  const lines = block.toString('utf8').split(CRLF);
  if (lines.length > FORM_LIMITS.headersPerPart) throw broken('too many part headers', at);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here.
    if (name === undefined || value === undefined || /[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
      throw broken('a malformed part header', at);
    }
    if (headers.has(name.toLowerCase())) throw broken('a repeated part header', at);
    headers.set(name.toLowerCase(), value.trim());
  }
  return headers;
}

function readShape(body: Buffer, at: number, start: number, end: number): PartShape {
  const headStart = at + CRLF.length;
  const headers = parseHeaders(body.subarray(headStart, start - HEADERS_END.length), at);
  const disposition = DISPOSITION.exec(headers.get('content-disposition') ?? '');
  if (disposition === null) throw broken('a part without a plain content-disposition', at);
  const encoding = headers.get('content-transfer-encoding');
  if (encoding !== undefined && !PLAIN_ENCODING.test(encoding)) throw broken('an encoded part', at);
  const contentType = headers.get('content-type');
  if (contentType !== undefined && /charset/i.test(contentType) && !PLAIN_CHARSET.test(contentType)) {
    throw broken('a charset other than UTF-8', at);
  }
  const isFile = disposition[1] !== undefined;
  const most = isFile ? FORM_LIMITS.fileBytes : FORM_LIMITS.fieldBytes;
  if (end - start > most) throw broken(`a part of more than ${most} bytes`, at);
  return { isFile, contentType, headStart, start, end };
}

/**
 * Validates that a form has exactly one reading, and locates its parts. Form parsers tolerate different errors, so a
 * form that the gateway validates and the provider parses must leave no room for tolerance: CRLF lines, no text around
 * the parts, one plain `content-disposition` each, no transfer encodings, no charset other than UTF-8.
 *
 * @throws invalid_request the form is malformed, truncated, ambiguous, or beyond `FORM_LIMITS`. Source:
 * docs/reference/security.md#bounded-work, docs/reference/security.md#checked-and-sent-bytes.
 */
export function measureForm(body: Buffer, boundary: string): PartShape[] {
  const opening = `--${boundary}`;
  const delimiter = Buffer.from(`${CRLF}${opening}`);
  if (!body.subarray(0, opening.length).equals(Buffer.from(opening))) throw broken('no boundary', 0);
  const shapes: PartShape[] = [];
  for (let at = opening.length; ; ) {
    const after = body.toString('latin1', at, at + 2);
    if (after === '--' && isEnd(body, at + 2)) break;
    if (after !== CRLF) throw broken(at >= body.length ? 'the end of the body' : 'a broken boundary', at);
    if (shapes.length === FORM_LIMITS.parts) throw broken(`more than ${FORM_LIMITS.parts} parts`, at);
    const headers = at + CRLF.length;
    const headersEnd = body.subarray(headers, headers + FORM_LIMITS.headerBytesPerPart).indexOf(HEADERS_END) + headers;
    if (headersEnd < headers) throw broken('part headers without an end', at);
    const start = headersEnd + HEADERS_END.length;
    const end = body.indexOf(delimiter, headersEnd + CRLF.length);
    if (end === -1) throw broken('the end of the body, inside a part,', body.length);
    if (end < start) throw broken('a part without content', at);
    shapes.push(readShape(body, at, start, end));
    at = end + delimiter.length;
  }
  if (shapes.length === 0) throw broken('no part', 0);
  if (shapes.filter((shape) => shape.isFile).length > FORM_LIMITS.files) {
    throw broken(`more than ${FORM_LIMITS.files} files`, 0);
  }
  return shapes;
}

/** Whether at most a final line end follows the closing boundary. */
function isEnd(body: Buffer, at: number): boolean {
  return at === body.length || body.toString('latin1', at, at + 3) === CRLF;
}

const MULTIPART = 'multipart/form-data';
const BOUNDARY_CHARACTERS = 40;

/**
 * Whether a content type denotes a form. @param contentType empty when the header is absent.
 * Source: docs/reference/application-api.md#bodies.
 */
export function isFormType(contentType: string): boolean {
  return contentType.slice(0, MULTIPART.length).toLowerCase() === MULTIPART;
}

/** Generates a random boundary that occurs in no part. */
export function formBoundary(ids: Ids): string {
  return ids.base62(BOUNDARY_CHARACTERS);
}

/** The content type of a form with this boundary. */
export function formType(boundary: string): string {
  return `${MULTIPART}; boundary=${boundary}`;
}
