/** A process that works for the runner, one job at a time: both ends. */
import { announce, firstMessage, startModule } from './processes.mjs';

const PATIENCE_MS = 90_000;

/** The runner's end. @returns `run(job, options)`, which throws when a job fails or takes far longer than it should */
export async function startWorker(fileName) {
  const { child } = await startModule(fileName);
  const run = async (job, options) => {
    child.send({ job, options });
    const { outcome, failure } = await firstMessage(child, options.warmMs + options.durationMs + PATIENCE_MS);
    if (failure) throw new Error(`${job}: ${failure}`);
    return outcome;
  };
  return { run };
}

/** The worker's end. @param {Record<string, (options: object) => Promise<unknown>>} jobs by name */
export function takeJobs(jobs) {
  process.on('message', async ({ job, options }) => {
    try {
      process.send({ outcome: await jobs[job](options) });
    } catch (error) {
      process.send({ failure: error.message });
    }
  });
  announce({});
}
