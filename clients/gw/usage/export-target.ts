import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** How far an export has come. */
interface Begun<Manifest> {
  readonly manifest: Manifest;
  /** Cursor of the next page; null after the last page. */
  readonly cursor: string | null;
}

/** Standard output: an interrupted export starts over. */
export class StreamTarget<Manifest> {
  private readonly hash = createHash('sha256');
  bytes = 0;

  constructor(private readonly write: (bytes: Uint8Array) => Promise<void>) {}

  begun(): Begun<Manifest> | undefined {
    return undefined;
  }

  async add(page: Uint8Array): Promise<void> {
    this.hash.update(page);
    this.bytes += page.length;
    await this.write(page);
  }

  async sha256(): Promise<string> {
    return this.hash.digest('hex');
  }

  finish(): void {}

  drop(): void {}
}

interface Saved<Manifest> extends Begun<Manifest> {
  readonly what: string;
  readonly bytes: number;
}

/**
 * A file, which appears when it is complete. Until then its bytes are in `<file>.part`, and in `<file>.part.json` is
 * how many of them are valid and how the export continues.
 */
export class FileTarget<Manifest> {
  bytes = 0;
  private readonly part: string;
  private readonly state: string;

  /** @param what is exported, and from where: a file of something else is started over. */
  constructor(
    private readonly file: string,
    private readonly what: string,
  ) {
    this.part = `${file}.part`;
    this.state = `${file}.part.json`;
  }

  /** How far an interrupted export to this file has come. */
  begun(): Begun<Manifest> | undefined {
    const saved = this.saved();
    if (saved?.what === this.what && existsSync(this.part) && statSync(this.part).size >= saved.bytes) {
      truncateSync(this.part, saved.bytes);
      this.bytes = saved.bytes;
      return saved;
    }
    this.drop();
    return undefined;
  }

  async add(page: Uint8Array, next: Begun<Manifest>): Promise<void> {
    const file = openSync(this.part, 'a', 0o600);
    try {
      for (let at = 0; at < page.length; ) at += writeSync(file, page, at);
    } finally {
      closeSync(file);
    }
    this.bytes += page.length;
    const saved: Saved<Manifest> = { ...next, what: this.what, bytes: this.bytes };
    writeFileSync(`${this.state}.new`, JSON.stringify(saved), { mode: 0o600 });
    renameSync(`${this.state}.new`, this.state);
  }

  async sha256(): Promise<string> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(this.part), hash);
    return hash.digest('hex');
  }

  finish(): void {
    renameSync(this.part, this.file);
    rmSync(this.state);
  }

  drop(): void {
    for (const file of [this.part, this.state]) rmSync(file, { force: true });
  }

  /** A damaged state file counts as missing. */
  private saved(): Saved<Manifest> | undefined {
    if (!existsSync(this.state)) return undefined;
    try {
      return JSON.parse(readFileSync(this.state, 'utf8'));
    } catch {
      return undefined;
    }
  }
}
