import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { errorCode } from '../../common/errors/error-code.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Log } from '../../common/log/log.js';
import type { PlanBook } from './plan.js';
import { parsePlans } from './plans-file.rules.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface PlansFileOptions {
  readonly path: string;
  readonly log: Log;
  /** How often it is looked at, in milliseconds. */
  readonly everyMs: number;
}

/** The file of plans as it was when it last held; read again when it changes. What is wrong with it stops nothing. */
export class PlansFile {
  private book: PlanBook | undefined;
  private trouble: string | undefined;
  /** Tells the version that was read last from others. */
  private readVersion: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  private constructor(private readonly options: PlansFileOptions) {}

  /** Reads it and goes on looking at it. End that with {@link close}. */
  static async open(options: PlansFileOptions): Promise<PlansFile> {
    const file = new PlansFile(options);
    await file.look();
    file.lookLater();
    return file;
  }

  /** What it said when it last held; undefined when it never did. */
  get plans(): PlanBook | undefined {
    return this.book;
  }

  /** Its newest version does not hold. */
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
      this.complain(error instanceof GatewayError ? error.message : (errorCode(error) ?? String(error)));
    }
  }

  /** What is read belongs to the version that was looked at, or to a later one, which is then read again. */
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
