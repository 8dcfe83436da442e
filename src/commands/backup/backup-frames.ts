/** What a frame of a backup file holds; `data` belongs to the table or journal segment before it. */
export type FrameKind = 'header' | 'journal' | 'schema' | 'table' | 'data' | 'end';

export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

const LETTERS: Readonly<Record<FrameKind, string>> = {
  ...{ header: 'H', journal: 'J', schema: 'S', table: 'T', data: 'D', end: 'E' },
};
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter.charCodeAt(0), kind as FrameKind]));
/** The letter of the kind, and the length of the content as an unsigned 32-bit integer, big-endian. */
const HEAD_BYTES = 5;
/** Postgres sends rows and Node files in far smaller pieces. */
const MAX_CONTENT_BYTES = 1024 * 1024 * 1024;

/** A frame as it is written. @param content bytes, or what becomes JSON. */
export function frame(kind: FrameKind, content: Buffer | object): Buffer {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(LETTERS[kind], 'latin1');
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Reads frames one after the other. */
export class FrameReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private buffered: Buffer = Buffer.alloc(0);
  private waiting: Frame | undefined;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next frame if it is of this kind; otherwise undefined, and the frame stays. @throws Error the file is cut off. */
  async takeIf(kind: FrameKind): Promise<Frame | undefined> {
    this.waiting ??= await this.read();
    if (this.waiting.kind !== kind) return undefined;
    const taken = this.waiting;
    this.waiting = undefined;
    return taken;
  }

  /** @throws Error the next frame is of another kind, or the file is cut off. */
  async take(kind: FrameKind): Promise<Frame> {
    const taken = await this.takeIf(kind);
    if (taken === undefined) throw new Error(`the file is damaged: it lacks its part "${kind}"`);
    return taken;
  }

  /** The contents of the data frames that come next. */
  async *data(): AsyncGenerator<Buffer> {
    for (let next = await this.takeIf('data'); next !== undefined; next = await this.takeIf('data')) yield next.content;
  }

  private async read(): Promise<Frame> {
    const head = await this.bytes(HEAD_BYTES);
    const kind = KINDS.get(head[0] ?? 0);
    const length = head.readUInt32BE(1);
    if (kind === undefined || length > MAX_CONTENT_BYTES) throw new Error('the file is not a backup, or is damaged');
    return { kind, content: await this.bytes(length) };
  }

  private async bytes(count: number): Promise<Buffer> {
    const pieces = [this.buffered];
    for (let have = this.buffered.length; have < count; ) {
      const { done, value } = await this.chunks.next();
      if (done === true) throw new Error('the file is cut off');
      pieces.push(value);
      have += value.length;
    }
    const all = pieces.length === 1 ? this.buffered : Buffer.concat(pieces);
    this.buffered = all.subarray(count);
    return all.subarray(0, count);
  }
}
