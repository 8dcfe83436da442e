import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import type { Log } from '../../common/log/log.js';
import type { PlanBook } from './plan.js';
import { parsePlans } from './plans-file.rules.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface PlansFileOptions {
  readonly path: string;
  readonly log: Log;
  /** Poll interval, in milliseconds. */
  readonly everyMs: number;
}

/** The last valid version of the plans file, read again when the file changes. An invalid version changes nothing. */
export class PlansFile {
  private book: PlanBook | undefined;
  private trouble: string | undefined;
  /** Version that was read last. */
  private readVersion: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  private constructor(private readonly options: PlansFileOptions) {}

  /** Reads the file and polls it until {@link close}. */
  static async open(options: PlansFileOptions): Promise<PlansFile> {
    const file = new PlansFile(options);
    await file.look();
    file.lookLater();
    return file;
  }

  /** The last valid contents; undefined when there were none. */
  get plans(): PlanBook | undefined {
    return this.book;
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
    const { path, log } = this.options;
    try {
      const bytes = await this.readIfChanged();
      if (bytes === undefined) return;
      this.book = parsePlans(bytes);
      this.trouble = undefined;
      log.event('plans_file_read', { file: path, plans: this.book.plans.size, accounts: this.book.accounts.size });
    } catch (error) {
      this.complain(error instanceof GatewayError ? error.message : (systemErrorCode(error) ?? String(error)));
    }
  }

  /** The contents belong to the version from `stat` or to a later one, which is then read again. */
  private async readIfChanged(): Promise<Buffer | undefined> {
    try {
      const found = await stat(this.options.path);
      const version = versionOf(found);
      if (version === this.readVersion) return undefined;
      if (found.size > MAX_FILE_BYTES) throw new Error(`has more than ${MAX_FILE_BYTES} bytes`);
      const bytes = await readFile(this.options.path);
      this.readVersion = version;
      return bytes;
    } catch (error) {
      this.readVersion = undefined;
      throw error;
    }
  }

  private complain(trouble: string): void {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.options.log.event('plans_file_unreadable', { file: this.options.path, error: trouble });
  }
}

function versionOf({ mtimeMs, ctimeMs, ino, size }: Stats): string {
  return `${mtimeMs} ${ctimeMs} ${ino} ${size}`;
}
