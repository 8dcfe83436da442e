const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Ctrl-C under npm arrives twice: from the terminal, which signals each of its processes, and from npm, which forwards it. */
const ONE_REQUEST_MS = 1_000;

/**
 * The next signal to stop this process. Signals of the second after it are the same request; a later one ends the process at
 * once.
 */
export function stopRequest(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const hear = (signal: NodeJS.Signals) => {
      resolve(signal);
      setTimeout(() => {
        for (const each of SIGNALS) process.off(each, hear);
      }, ONE_REQUEST_MS).unref();
    };
    for (const signal of SIGNALS) process.on(signal, hear);
  });
}
