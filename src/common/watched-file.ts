import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { GatewayError } from './errors/gateway-error.js';
import { systemErrorCode } from './errors/system-error-code.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface WatchedFileOptions<T> {
  readonly path: string;
  /** Poll interval, in milliseconds. */
  readonly everyMs: number;
  /** @throws GatewayError what is wrong with this version. */
  parse(bytes: Buffer): T;
  /** Takes a valid version. @param modifiedAtMs when the file was modified, in milliseconds since the Unix epoch. */
  onRead(content: T, modifiedAtMs: number): void;
  /**
   * A version is invalid or the file cannot be read; called once for each problem. What it throws at the start, {@link
   * WatchedFile.open} throws.
   */
  onTrouble(trouble: string): void;
}

/** The last valid version of a file, read again when the file changes. An invalid version changes nothing. */
export class WatchedFile<T> {
  private lastValid: T | undefined;
  private trouble: string | undefined;
  /** Version that was read last. */
  private readVersion: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  private constructor(private readonly options: WatchedFileOptions<T>) {}

  /** Reads the file and polls it until {@link close}. */
  static async open<T>(options: WatchedFileOptions<T>): Promise<WatchedFile<T>> {
    const file = new WatchedFile(options);
    await file.look();
    file.lookLater();
    return file;
  }

  /** The last valid contents; undefined when there were none. */
  get content(): T | undefined {
    return this.lastValid;
  }

  /** The newest version is invalid. */
  get isStale(): boolean {
    return this.trouble !== undefined;
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private lookLater(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => void this.look().then(() => this.lookLater()), this.options.everyMs);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    try {
      const found = await this.readIfChanged();
      if (found === undefined) return;
      this.lastValid = this.options.parse(found.bytes);
      this.trouble = undefined;
      this.options.onRead(this.lastValid, found.modifiedAtMs);
    } catch (error) {
      this.complain(error instanceof GatewayError ? error.message : (systemErrorCode(error) ?? String(error)));
    }
  }

  /** The contents belong to the version from `stat` or to a later one, which is then read again. */
  private async readIfChanged(): Promise<{ readonly bytes: Buffer; readonly modifiedAtMs: number } | undefined> {
    try {
      const found = await stat(this.options.path);
      const version = versionOf(found);
      if (version === this.readVersion) return undefined;
      if (found.size > MAX_FILE_BYTES) throw new Error(`has more than ${MAX_FILE_BYTES} bytes`);
      const bytes = await readFile(this.options.path);
      this.readVersion = version;
      return { bytes, modifiedAtMs: found.mtimeMs };
    } catch (error) {
      this.readVersion = undefined;
      throw error;
    }
  }

  private complain(trouble: string): void {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.options.onTrouble(trouble);
  }
}

function versionOf({ mtimeMs, ctimeMs, ino, size }: Stats): string {
  return `${mtimeMs} ${ctimeMs} ${ino} ${size}`;
}
