import type { Log } from '../../common/log/log.js';
import { WatchedFile } from '../../common/watched-file.js';
import type { PlanBook } from './plan.js';
import { parsePlans } from './plans-file.rules.js';

export interface PlansFileOptions {
  readonly path: string;
  readonly log: Log;
  /** Poll interval, in milliseconds. */
  readonly everyMs: number;
}

/** The last valid version of the plans file. */
export class PlansFile {
  private constructor(private readonly file: WatchedFile<PlanBook>) {}

  /** Reads the file and polls it until {@link close}. */
  static async open({ path, log, everyMs }: PlansFileOptions): Promise<PlansFile> {
    const file = await WatchedFile.open({
      ...{ path, everyMs, parse: parsePlans },
      onRead: ({ plans, accounts }) => {
        log.event('plans_file_read', { file: path, plans: plans.size, accounts: accounts.size });
      },
      onTrouble: (error) => log.event('plans_file_unreadable', { file: path, error }),
    });
    return new PlansFile(file);
  }

  /** The last valid contents; undefined when there were none. */
  get plans(): PlanBook | undefined {
    return this.file.content;
  }

  /** The newest version is invalid. */
  get isStale(): boolean {
    return this.file.isStale;
  }

  close(): void {
    this.file.close();
  }
}
