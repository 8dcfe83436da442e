import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { FORM_LIMITS, measureForm, type PartShape, parseFormBoundary } from './form-shape.rules.js';

/** One part of a form, content byte for byte. */
export interface FormPart {
  readonly name: string;
  /** Set on files only. */
  readonly fileName: string | undefined;
  /** As written, parameters included. */
  readonly contentType: string | undefined;
  readonly content: Buffer;
}

interface OpenPart {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly pieces: Buffer[];
}

/** Read in one turn of the event loop: a few milliseconds' worth. Source: threats 10.7. */
const READ_STEP_BYTES = 2 * 1024 * 1024;

/** Fields that decide policy or price. Source: contract-app 6.6 and 6.7. */
const JUDGED_FIELDS = new Set(['model', 'response_format', 'stream', 'n']);

function collectPart(stream: BusboyFileStream, name: string, fileName: string | undefined, fail: () => void): OpenPart {
  const part: OpenPart = { name, fileName, pieces: [] };
  stream.on('data', (piece: Buffer) => part.pieces.push(piece));
  stream.on('error', fail);
  return part;
}

/** Every part is taken as a file, so that contents stay bytes. Rejects instead of waiting when the reader gives up. */
function readParts(body: Buffer, boundary: string): Promise<OpenPart[]> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(invalidRequest('body', 'not a readable form'));
    const parts: OpenPart[] = [];
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
      parts.push(collectPart(stream, name, fileName, fail));
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

/** Puts what was read beside what was measured; the two must tell of the same parts. */
function toFormParts(read: readonly OpenPart[], shapes: readonly PartShape[]): FormPart[] {
  const disagreement = invalidRequest('body', 'not a readable form: its parts are unclear');
  if (read.length !== shapes.length) throw disagreement;
  return shapes.map(({ isFile, contentType, start, end }, index) => {
    const part = read[index];
    const content = part && Buffer.concat(part.pieces);
    if (typeof part?.name !== 'string' || content?.length !== end - start) throw disagreement;
    return { name: part.name, fileName: isFile ? (part.fileName ?? '') : undefined, contentType, content };
  });
}

function requireClearFields(parts: readonly FormPart[]): void {
  const seen = new Set<string>();
  for (const { name, fileName } of parts) {
    const judged = name.toUpperCase().toLowerCase();
    if (!JUDGED_FIELDS.has(judged)) continue;
    if (name !== judged) throw invalidRequest(judged, 'a field differs from this name by letter case alone');
    if (seen.has(name)) throw invalidRequest(name, 'stands twice in the form');
    if (fileName !== undefined) throw invalidRequest(name, 'must be a plain field, not a file');
    seen.add(name);
  }
}

/**
 * Reads a form that is wholly in memory.
 *
 * @param contentType the request's header, which names the boundary.
 * @throws invalid_request the form is broken, cut short, unclear or out of bounds, or a judged field (`model`,
 *   `response_format`, `stream`, `n`) stands twice, is a file, or differs by letter case alone.
 * Source: contract-app 6.6 and 6.7.
 */
export async function readForm(body: Buffer, contentType: string): Promise<FormPart[]> {
  const boundary = parseFormBoundary(contentType);
  const shapes = measureForm(body, boundary);
  const parts = toFormParts(await readParts(body, boundary), shapes);
  requireClearFields(parts);
  return parts;
}

/**
 * The text of a field; undefined when the form has none. Of repeated fields it is the first.
 *
 * @throws invalid_request the field is not UTF-8.
 */
export function findFormField(parts: readonly FormPart[], name: string): string | undefined {
  const part = parts.find((candidate) => candidate.name === name && candidate.fileName === undefined);
  if (part === undefined) return undefined;
  if (!isUtf8(part.content)) throw invalidRequest(name, 'not valid UTF-8');
  return part.content.toString('utf8');
}

/** Quotes a name the way browsers do. */
function quoted(text: string): string {
  return `"${text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`;
}

function partHead({ name, fileName, contentType }: Omit<FormPart, 'content'>): string {
  const file = fileName === undefined ? '' : `; filename=${quoted(fileName)}`;
  const type = contentType === undefined ? '' : `\r\ncontent-type: ${contentType}`;
  return `content-disposition: form-data; name=${quoted(name)}${file}${type}\r\n\r\n`;
}

/**
 * Writes a form with some fields set: a field that stands in the form keeps its place, others go to the end. Every
 * other part keeps name, file name, type, bytes and order.
 *
 * @param boundary fresh and random (at least 24 characters of a token), so that it occurs in no part.
 * Source: contract-app 6.7.
 */
export function rebuildForm(
  parts: readonly FormPart[],
  changes: ReadonlyMap<string, string>,
  boundary: string,
): Buffer {
  const present = new Set(parts.map((part) => part.name));
  const added = [...changes.keys()].filter((name) => !present.has(name));
  const all = [...parts, ...added.map((name) => ({ name, fileName: undefined, contentType: undefined }))];
  const pieces = all.flatMap((part) => {
    const change = part.fileName === undefined ? changes.get(part.name) : undefined;
    const kept = 'content' in part ? part.content : Buffer.alloc(0);
    const head = Buffer.from(`--${boundary}\r\n${partHead(part)}`);
    return [head, change === undefined ? kept : Buffer.from(change), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}
