import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { FORM_LIMITS, measureForm, type PartShape, parseFormBoundary } from './form-shape.rules.js';

/** One part of a form. Its bytes are views of the request body, not copies. */
export interface FormPart {
  readonly name: string;
  /** Set on files only. */
  readonly fileName: string | undefined;
  /** As sent, parameters included. */
  readonly contentType: string | undefined;
  readonly content: Buffer;
  /** The whole part as sent, between its boundaries: header block, empty line, content. */
  readonly asSent: Buffer;
}

/** A form to send: consecutive pieces of `bytes` in total, each at most `SEND_STEP_BYTES`. */
export interface RebuiltForm {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

interface ReadPart {
  readonly name: string;
  readonly fileName: string | undefined;
  bytes: number;
}

/** Bytes to parse per event loop turn: a few milliseconds of work. Source: docs/reference/security.md#bounded-work. */
const READ_STEP_BYTES = 2 * 1024 * 1024;

/** A TLS connection copies each buffer it is given, so parts are sent in pieces. */
const SEND_STEP_BYTES = 128 * 1024;

/**
 * Fields that affect policy or price.
 * Source: docs/reference/application-api.md#models, docs/reference/application-api.md#bodies.
 */
const JUDGED_FIELDS = new Set(['model', 'response_format', 'stream', 'n']);

function countPart(stream: BusboyFileStream, name: string, fileName: string | undefined, fail: () => void): ReadPart {
  const part: ReadPart = { name, fileName, bytes: 0 };
  stream.on('data', (piece: Buffer) => {
    part.bytes += piece.length;
  });
  stream.on('error', fail);
  return part;
}

/**
 * Parses the parts a second time, independently; keeps none of their bytes. Treats every part as a file, so that
 * contents stay bytes. Rejects instead of hanging when the parser stops.
 */
function readParts(body: Buffer, boundary: string): Promise<ReadPart[]> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(invalidRequest('body', 'not a readable form'));
    const parts: ReadPart[] = [];
    const reader = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      isPartAFile: () => true,
      preservePath: true,
      limits: {
        parts: FORM_LIMITS.parts,
        headerPairs: FORM_LIMITS.headersPerPart + 1,
        headerSize: FORM_LIMITS.headerBytesPerPart,
      },
    });
    reader.on('file', (name: string, stream: BusboyFileStream, fileName: string | undefined) => {
      parts.push(countPart(stream, name, fileName, fail));
    });
    reader.on('error', fail);
    reader.on('finish', () => resolve(parts));
    feed(reader, body).catch(fail);
  });
}

async function feed(reader: BusboyInstance, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length; at += READ_STEP_BYTES) {
    if (at > 0) await nextTurn();
    reader.write(body.subarray(at, at + READ_STEP_BYTES));
  }
  reader.end();
}

/** Combines both readings; they must describe the same parts. */
function toFormParts(body: Buffer, read: readonly ReadPart[], shapes: readonly PartShape[]): FormPart[] {
  const disagreement = invalidRequest('body', 'not a readable form: its parts are ambiguous');
  if (read.length !== shapes.length) throw disagreement;
  return shapes.map(({ isFile, contentType, headStart, start, end }, index) => {
    const part = read[index];
    if (typeof part?.name !== 'string' || part.bytes !== end - start) throw disagreement;
    const fileName = isFile ? (part.fileName ?? '') : undefined;
    const content = body.subarray(start, end);
    return { name: part.name, fileName, contentType, content, asSent: body.subarray(headStart, end) };
  });
}

function requireClearFields(parts: readonly FormPart[]): void {
  const seen = new Set<string>();
  for (const { name, fileName } of parts) {
    const checked = name.toUpperCase().toLowerCase();
    if (!JUDGED_FIELDS.has(checked)) continue;
    if (name !== checked) throw invalidRequest(checked, 'a field differs from this name only by letter case');
    if (seen.has(name)) throw invalidRequest(name, 'is given twice');
    if (fileName !== undefined) throw invalidRequest(name, 'must be a plain field, not a file');
    seen.add(name);
  }
}

/**
 * Parses a form that is completely in memory, without copying.
 *
 * @param contentType the request's header, which contains the boundary.
 * @throws invalid_request the form is malformed, truncated, ambiguous or out of bounds, or a validated field (`model`,
 *   `response_format`, `stream`, `n`) is duplicated, is a file, or differs by letter case only.
 * Source: docs/reference/application-api.md#models, docs/reference/application-api.md#bodies.
 */
export async function readForm(body: Buffer, contentType: string): Promise<FormPart[]> {
  const boundary = parseFormBoundary(contentType);
  const shapes = measureForm(body, boundary);
  const parts = toFormParts(body, await readParts(body, boundary), shapes);
  requireClearFields(parts);
  return parts;
}

/**
 * The text of a field, the first one of repeated fields; undefined when the form has none.
 *
 * @throws invalid_request the field is not UTF-8.
 */
export function findFormField(parts: readonly FormPart[], name: string): string | undefined {
  const part = parts.find((candidate) => candidate.name === name && candidate.fileName === undefined);
  if (part === undefined) return undefined;
  if (!isUtf8(part.content)) throw invalidRequest(name, 'not valid UTF-8');
  return part.content.toString('utf8');
}

/** Quotes a name as browsers do. */
function quoted(text: string): string {
  return `"${text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`;
}

function plainField(name: string, value: string): Buffer {
  return Buffer.from(`content-disposition: form-data; name=${quoted(name)}\r\n\r\n${value}`);
}

function stepsOf(part: Buffer): Buffer[] {
  if (part.length <= SEND_STEP_BYTES) return [part];
  const steps = Math.ceil(part.length / SEND_STEP_BYTES);
  return Array.from({ length: steps }, (_, step) =>
    part.subarray(step * SEND_STEP_BYTES, (step + 1) * SEND_STEP_BYTES),
  );
}

/**
 * Composes a form with some fields set. A field of the form keeps its position; new fields go first, because some
 * providers parse forms as a stream. Every other part keeps its bytes, header block included, and is not copied.
 *
 * @param boundary from `formBoundary`, so that it occurs in no part.
 * Source: docs/reference/application-api.md#bodies.
 */
export function rebuildForm(
  parts: readonly FormPart[],
  changes: ReadonlyMap<string, string>,
  boundary: string,
): RebuiltForm {
  const fields = new Set(parts.filter(({ fileName }) => fileName === undefined).map(({ name }) => name));
  const added = [...changes].filter(([name]) => !fields.has(name)).map(([name, value]) => plainField(name, value));
  const kept = parts.map(({ name, fileName, asSent }) => {
    const value = fileName === undefined ? changes.get(name) : undefined;
    return value === undefined ? asSent : plainField(name, value);
  });
  const opening = Buffer.from(`--${boundary}\r\n`);
  const delimiter = Buffer.from(`\r\n--${boundary}\r\n`);
  const closing = Buffer.from(`\r\n--${boundary}--\r\n`);
  const pieces = [...added, ...kept].flatMap((part, at) => [at === 0 ? opening : delimiter, ...stepsOf(part)]);
  pieces.push(closing);
  return { pieces, bytes: pieces.reduce((bytes, piece) => bytes + piece.length, 0) };
}
