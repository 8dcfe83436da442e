/** The load generator, as its own process. */
import { takeJobs } from './jobs.mjs';
import { closedLoop } from './load-closed.mjs';
import { openLoop } from './load-open.mjs';
import { runStreams } from './load-streams.mjs';

takeJobs({ closedLoop, openLoop, runStreams });
