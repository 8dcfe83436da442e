import { useState } from 'react';

interface Submit {
  /** Runs a change; a thrown error is `error` until the next one. */
  readonly run: (work: () => Promise<void>) => Promise<void>;
  readonly error: unknown;
  readonly isBusy: boolean;
}

/** The state of a form that sends something. */
export function useSubmit(): Submit {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return { run, error, isBusy };
}
