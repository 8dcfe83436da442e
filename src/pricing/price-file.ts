import type { OnApplicationShutdown } from '@nestjs/common';
import { instantOf } from '../common/clock.js';
import type { Log } from '../common/log/log.js';
import { WatchedFile } from '../common/watched-file.js';
import { EnvironmentError } from '../platform/config/environment.js';
import type { PriceBook } from './price-book.js';
import type { PriceCatalog } from './price-catalog.js';
import { parsePriceFile } from './price-file.rules.js';

export interface PriceFileOptions {
  /** Absent: there is no file. */
  readonly path: string | undefined;
  readonly prices: Pick<PriceBook, 'replaceModels'>;
  readonly log: Log;
  /** Poll interval, in milliseconds. */
  readonly everyMs: number;
}

/** Where the prices of the catalog come from. */
export interface PriceOrigin {
  readonly source: 'built_in' | 'file';
  /** When the file in force was modified, as an ISO 8601 instant; null without a file. */
  readonly date: string | null;
}

/** The price file: its last valid version is in force in the price book. */
export class PriceFile implements OnApplicationShutdown {
  #file: WatchedFile<PriceCatalog> | undefined;
  #modifiedAtMs: number | undefined;

  private constructor() {}

  /**
   * Reads the file and polls it until the shutdown.
   *
   * @throws EnvironmentError the file cannot be read, or is invalid.
   */
  static async open({ path, prices, log, everyMs }: PriceFileOptions): Promise<PriceFile> {
    const file = new PriceFile();
    if (path === undefined) return file;
    file.#file = await WatchedFile.open({
      ...{ path, everyMs, parse: parsePriceFile },
      onRead: (models, modifiedAtMs) => {
        prices.replaceModels(models);
        file.#modifiedAtMs = modifiedAtMs;
        log.event('prices_file_read', { file: path, models: countOf(models) });
      },
      onTrouble: (error) => {
        if (file.#modifiedAtMs === undefined)
          throw new EnvironmentError(`PRICES_FILE ${path} cannot be used: ${error}`);
        log.event('prices_file_unreadable', { file: path, error });
      },
    });
    return file;
  }

  get origin(): PriceOrigin {
    const modifiedAtMs = this.#modifiedAtMs;
    return modifiedAtMs === undefined
      ? { source: 'built_in', date: null }
      : { source: 'file', date: instantOf(modifiedAtMs).toISOString() };
  }

  onApplicationShutdown(): void {
    this.#file?.close();
  }
}

function countOf(models: PriceCatalog): number {
  return Object.values(models).reduce((sum, section) => sum + Object.keys(section).length, 0);
}
