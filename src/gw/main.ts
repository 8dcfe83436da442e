#!/usr/bin/env node
import { readEnvironment } from './program/environment.js';
import { run } from './program/program.js';
import { Terminal } from './terminal/terminal.js';

declare const GW_VERSION: string;

const typed = process.argv.slice(2);
const environment = readEnvironment();
const terminal = new Terminal(process);

// A reader that has seen enough, as `head`, is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

process.exitCode = await run(typed, { environment, terminal, version: GW_VERSION });
