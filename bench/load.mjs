/** The load generator, as its own process: takes one job at a time from its parent and answers with its result. */
import { closedLoop } from './load-closed.mjs';
import { holdStreams, leaveStreams } from './load-hold.mjs';
import { openLoop } from './load-open.mjs';
import { runStreams } from './load-streams.mjs';
import { announce } from './processes.mjs';

const JOBS = { closedLoop, openLoop, runStreams, holdStreams, leaveStreams };

process.on('message', async ({ job, options }) => {
  try {
    process.send({ outcome: await JOBS[job](options) });
  } catch (error) {
    process.send({ failure: error.message });
  }
});
announce({ ready: true });
