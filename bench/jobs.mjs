/** The worker's end of a LoadGenerator: takes one job at a time from the runner and answers with its result. */
import { announce } from './processes.mjs';

/** @param {Record<string, (options: object) => unknown>} jobs by name */
export function takeJobs(jobs) {
  process.on('message', async ({ job, options }) => {
    try {
      process.send({ outcome: await jobs[job](options) });
    } catch (error) {
      process.send({ failure: error.message });
    }
  });
  announce({ ready: true });
}
