import { EnvironmentError, processEnvironment } from './platform/config/environment.js';
import { type RunningGateway, startGateway } from './start.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Runs the service as a process of its own: starts it, explains a start that fails, stops it on a signal. */
export async function runProcess(): Promise<void> {
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(processEnvironment(), { log: writeLine });
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
  process.stderr.write(gateway.banner);
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      gateway.stop(signal).then(
        () => process.exit(0),
        (error) => {
          process.stderr.write(`${explain(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function explain(error: unknown): string {
  if (error instanceof EnvironmentError) {
    return `The gateway does not start, because of these settings:\n${error.message}`;
  }
  return `The gateway does not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
