import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Chance } from '../../support/chance.js';

export type Framing = 'length' | 'chunked' | 'close' | 'none';

const CODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: (body: Buffer) => (body.length % 2 === 0 ? deflateSync(body) : deflateRawSync(body)),
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

export type Coding = keyof typeof CODERS;

export const CODINGS = Object.keys(CODERS) as Coding[];

export function encoded(coding: Coding, body: Buffer): Buffer {
  return CODERS[coding](body);
}

/** An answer before it is written: every part of it can be changed on its own. */
export class ResponseDraft {
  /** Before the status line: interim heads. */
  before = '';
  version = 'HTTP/1.1';
  status = '200';
  reason = ' OK';
  /** Lines of fields, without those of the framing. */
  lines: string[] = [];
  /** In place of the usual line of the framing. */
  framingLines: string[] | undefined;
  lineEnd = '\r\n';
  /** After the last chunk. */
  trailers: string[] = [];
  lastChunk = '0';
  /** After each size. */
  extension = '';
  chunkEnd = '\r\n';
  sizeOf = (bytes: number): string => bytes.toString(16);

  constructor(
    public framing: Framing,
    /** As it is sent. */
    public body: Buffer,
  ) {}

  /** @param isHeadOnly of an answer to HEAD. */
  bytes(chance: Chance, isHeadOnly: boolean): Buffer {
    const lines = [`${this.version} ${this.status}${this.reason}`, ...this.lines, ...this.#framing()];
    const head = Buffer.from(`${this.before}${lines.join(this.lineEnd)}${this.lineEnd}${this.lineEnd}`, 'latin1');
    if (isHeadOnly || this.framing === 'none') return head;
    return Buffer.concat([head, ...(this.framing === 'chunked' ? this.#chunks(chance) : [this.body])]);
  }

  #framing(): readonly string[] {
    if (this.framingLines !== undefined) return this.framingLines;
    if (this.framing === 'chunked') return ['Transfer-Encoding: chunked'];
    return this.framing === 'length' ? [`Content-Length: ${this.body.length}`] : [];
  }

  #chunks(chance: Chance): Buffer[] {
    const parts: Buffer[] = [];
    const text = (line: string) => parts.push(Buffer.from(line, 'latin1'));
    for (let at = 0; at < this.body.length; ) {
      const data = this.body.subarray(at, at + 1 + chance.below(chance.is(0.3) ? 8 : this.body.length));
      text(`${this.sizeOf(data.length)}${this.extension}\r\n`);
      parts.push(data);
      text(this.chunkEnd);
      at += data.length;
    }
    text(`${this.lastChunk}${this.extension}\r\n${this.trailers.map((line) => `${line}\r\n`).join('')}\r\n`);
    return parts;
  }
}
