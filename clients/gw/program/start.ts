import { Terminal } from '../terminal/terminal.js';
import { nowMs, readEnvironment, useProxies } from './environment.js';
import { asFailure, EXIT } from './failure.js';
import { run, toldOf } from './program.js';

declare const GW_VERSION: string;

/** Runs what was typed with this process, and sets its exit code. */
export async function start(): Promise<void> {
  const terminal = new Terminal(process);
  let stop: () => number | undefined = () => EXIT.interrupted;
  // A reader that has seen enough, as `head`, is no failure; a terminal that is closed is nobody to tell.
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
  // An error that no command has caught is printed as a sentence, too.
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
