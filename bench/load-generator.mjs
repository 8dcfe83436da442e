/** The runner's end of a process that works for it: load.mjs, or another that takes jobs. */
import { firstMessage, forkModule } from './processes.mjs';

const PATIENCE_MS = 90_000;

export class LoadGenerator {
  #child;

  constructor(child) {
    this.#child = child;
  }

  static async start(fileName = 'load.mjs') {
    const { child } = await forkModule(fileName);
    return new LoadGenerator(child);
  }

  get pid() {
    return this.#child.pid;
  }

  /** Runs one job to its end. Throws when it fails or takes far longer than it should. */
  async run(job, options) {
    this.#child.send({ job, options });
    const expectedMs = (options.warmMs ?? 0) + (options.durationMs ?? 0);
    const { outcome, failure } = await firstMessage(this.#child, expectedMs + PATIENCE_MS);
    if (failure) throw new Error(`${job}: ${failure}`);
    return outcome;
  }
}
