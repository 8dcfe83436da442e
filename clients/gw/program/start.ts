import { Terminal } from '../terminal/terminal.js';
import { nowMs, readEnvironment, useProxies } from './environment.js';
import { asFailure, EXIT } from './failure.js';
import { run, toldOf } from './program.js';

declare const GW_VERSION: string;

/** Runs the command line of this process, and sets its exit code. */
export async function start(): Promise<void> {
  const terminal = new Terminal(process);
  let stop: () => number | undefined = () => EXIT.interrupted;
  // A reader that stops early, such as `head`, is not a failure; a closed terminal cannot be notified.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (stream === process.stdout && error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      process.exit();
    });
  }
  const crash = (error: unknown) => {
    const failure = asFailure(error);
    terminal.printError(toldOf(failure), 'red');
    return failure.exitCode;
  };
  // An uncaught error is also printed as a sentence.
  process.on('uncaughtException', (error) => process.exit(crash(error)));
  process.on('SIGINT', () => {
    const exitCode = stop();
    if (exitCode !== undefined) process.exit(exitCode);
  });
  try {
    await useProxies();
    process.exitCode = await run(process.argv.slice(2), {
      ...{ environment: readEnvironment(), terminal, version: GW_VERSION, nowMs },
      whenInterrupted: (asked) => {
        stop = asked;
      },
    });
  } catch (error) {
    process.exitCode = crash(error);
  }
}
