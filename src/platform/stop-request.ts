const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ctrl-C under npm arrives twice: from the terminal, which signals each of its processes, and from npm, which forwards
 * it.
 */
const ONE_REQUEST_MS = 1_000;

/**
 * The next signal to stop this process. Signals of the second after it are the same request; a later one ends the
 * process at once.
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

/**
 * The time between a request to stop and the stop, for load balancers to notice. SIGINT, which comes from a person,
 * skips it; so does another signal, except one of the same second. During it no signal ends the process; after it each
 * does, as `stopRequest` says.
 *
 * @param signal the request; @param delayMs 0 skips it too.
 * Source: docs/operations.md#stopping.
 */
export function stopDelay(signal: string, delayMs: number): Promise<void> {
  if (signal === 'SIGINT' || delayMs === 0) return Promise.resolve();
  return new Promise((resolve) => {
    let isSameRequest = true;
    setTimeout(() => {
      isSameRequest = false;
    }, ONE_REQUEST_MS).unref();
    const stopListening = () => {
      for (const each of SIGNALS) process.off(each, hear);
    };
    const hear = (further: NodeJS.Signals) => {
      if (isSameRequest && further !== 'SIGINT') return;
      clearTimeout(timer);
      setTimeout(stopListening, ONE_REQUEST_MS).unref();
      resolve();
    };
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, delayMs);
    for (const each of SIGNALS) process.on(each, hear);
  });
}
