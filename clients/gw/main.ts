#!/usr/bin/env node
import { nowMs, readEnvironment } from './program/environment.js';
import { EXIT } from './program/failure.js';
import { run } from './program/program.js';
import { Terminal } from './terminal/terminal.js';

declare const GW_VERSION: string;

const typed = process.argv.slice(2);
const environment = readEnvironment();
const terminal = new Terminal(process);
let stop: () => number | undefined = () => EXIT.interrupted;

// A reader that has seen enough, as `head`, is no failure; a terminal that is closed is nobody to tell.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    process.exit();
  });
}
process.on('SIGINT', () => {
  const exitCode = stop();
  if (exitCode !== undefined) process.exit(exitCode);
});

process.exitCode = await run(typed, {
  ...{ environment, terminal, version: GW_VERSION, nowMs },
  whenInterrupted: (asked) => {
    stop = asked;
  },
});
