import { BrokenConnection } from './broken-connection.js';

/** Header names in lower case, each followed by its value, in the order received. */
export type HeaderList = readonly string[];

/** The body that follows a head: so many bytes, chunks, or everything until the provider closes the connection. */
type BodyLength = number | 'chunked' | 'until_close';

/** Head of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderList;
  /** Status line and fields as received, so that a search of all values is one search. */
  readonly text: string;
  readonly bodyLength: BodyLength;
  /** How long the connection may be idle after the response, in milliseconds; 0 = it ends with it. */
  readonly keepAliveMs: number;
}

const LINE_END = '\r\n';
const TAB = 0x09;
/** Keep-alive time of an idle connection unless the provider states another one. */
const KEEP_ALIVE_MS = 15_000;
const MAX_KEEP_ALIVE_MS = 30_000;
/**
 * A connection is closed this long before the time that the provider states: the provider may close it while a request
 * is under way.
 */
const KEEP_ALIVE_MARGIN_MS = 2_000;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** Field lines without obsolete line folding, which RFC 9112 section 5.2 lets a gateway refuse. */
const FIELD_LINES = new RegExp(`^(?:\\r\\n${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*)*$`);
const FRAMING_FIELD = /^(?:content-length|transfer-encoding):/i;
const QUOTED = '"(?:[\\t !#-[\\]-~\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/**
 * Extensions of a chunk, without the blanks that RFC 9112 section 7.1.1 calls bad and Node's strict parser refuses as
 * well.
 */
const CHUNK_EXTENSIONS = new RegExp(`^(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)+$`);
const DIGITS = /^\d{1,15}$/;
const TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,9})(?:$|[\s,;])/i;

/**
 * Parses the head of a response and determines its body (RFC 9112 sections 4 to 6). Stricter than a client has to be:
 * contradictory or repeated lengths and unknown transfer codings are errors.
 *
 * @param text everything before the empty line, as latin1.
 * @param method of the request.
 * @throws BrokenConnection `invalid_answer`
 */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf(LINE_END);
  const fieldsAt = lineEnd < 0 ? text.length : lineEnd;
  const statusLine = STATUS_LINE.exec(text.slice(0, fieldsAt));
  if (statusLine === null) throw invalid('status line');
  if (!FIELD_LINES.test(text.slice(fieldsAt))) throw invalid('header');
  const headers: string[] = [];
  const framing = new Framing(statusLine[1] === '1');
  for (let start = fieldsAt + LINE_END.length; start < text.length; ) {
    const colon = text.indexOf(':', start);
    const nextLine = text.indexOf(LINE_END, colon);
    const end = nextLine < 0 ? text.length : nextLine;
    const name = text.slice(start, colon).toLowerCase();
    const value = withoutOuterSpace(text, colon + 1, end);
    headers.push(name, value);
    framing.note(name, value, text.charCodeAt(end - 1) === TAB);
    start = end + LINE_END.length;
  }
  const status = Number(statusLine[2]);
  if (status < 200 && framing.isLast) throw invalid('interim answer');
  const bodyLength = framing.bodyLength(status, method);
  const keepAliveMs = bodyLength === 'until_close' ? 0 : framing.keepAliveMs;
  return { status, statusText: statusLine[3] ?? '', headers, text, bodyLength, keepAliveMs };
}

/** Whether a line is a trailer: a field that says nothing about the body (RFC 9110 section 6.5.1). */
export function isTrailer(line: string): boolean {
  return FIELD_LINES.test(LINE_END + line) && !FRAMING_FIELD.test(line);
}

/** Whether these are extensions of a chunk, from their first semicolon on. */
export function isChunkExtensions(text: string): boolean {
  return CHUNK_EXTENSIONS.test(text);
}

/** The value of a header that should occur once; the last one of several, as most parsers choose. */
export function singleHeader(headers: HeaderList, name: string): string | undefined {
  for (let at = headers.length - 2; at >= 0; at -= 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** What the fields of one head say about its body and its connection. */
class Framing {
  #length: string | undefined;
  #coding: string | undefined;
  #tokens = '';
  #timeout = '';

  constructor(private readonly isHttp11: boolean) {}

  /** @param endsInTab before it was trimmed: some parsers take that for a part of a transfer coding. */
  note(name: string, value: string, endsInTab: boolean): void {
    switch (name) {
      case 'content-length':
        if (this.#length !== undefined) throw invalid('content-length');
        this.#length = value;
        break;
      case 'transfer-encoding':
        if (this.#coding !== undefined || endsInTab) throw invalid('transfer-encoding');
        this.#coding = value;
        break;
      case 'connection':
        this.#tokens += `,${value.toLowerCase()}`;
        break;
      case 'keep-alive':
        this.#timeout = value;
    }
  }

  bodyLength(status: number, method: string): BodyLength {
    const [length, coding] = [this.#length, this.#coding];
    if (length !== undefined && (coding !== undefined || !DIGITS.test(length))) throw invalid('content-length');
    if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || !this.isHttp11))
      throw invalid('transfer-encoding');
    if (status < 200 || status === 204 || status === 304 || method === 'HEAD') return 0;
    if (coding !== undefined) return 'chunked';
    return length === undefined ? 'until_close' : Number(length);
  }

  /** Whether the connection ends after its message. */
  get isLast(): boolean {
    const has = (token: string) =>
      this.#tokens.split(',').some((one) => withoutOuterSpace(one, 0, one.length) === token);
    return (this.#tokens !== '' && has('close')) || (!this.isHttp11 && !has('keep-alive'));
  }

  get keepAliveMs(): number {
    if (this.isLast) return 0;
    const stated = TIMEOUT.exec(this.#timeout)?.[1];
    if (stated === undefined) return KEEP_ALIVE_MS;
    return Math.min(Math.max(Number(stated) * 1_000 - KEEP_ALIVE_MARGIN_MS, 0), MAX_KEEP_ALIVE_MS);
  }
}

function withoutOuterSpace(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === TAB;
}

function invalid(what: string): BrokenConnection {
  return new BrokenConnection('invalid_answer', `the provider sent an invalid ${what}`);
}
