import { useEffect, useState } from 'react';

const SHORTEST_MS = 2_000;
const LONGEST_MS = 30_000;

/**
 * Counts up while something is watched live: every two seconds, and less often while nothing new arrives. It pauses
 * while the tab is hidden.
 *
 * @param newest changes when something new arrives.
 */
export function useLiveInterval(isLive: boolean, newest: number | undefined): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    if (!isLive) return;
    let waitMs = SHORTEST_MS;
    let timer = setTimeout(run, waitMs);
    function run() {
      if (document.visibilityState === 'visible') setTick((count) => count + 1);
      waitMs = Math.min(waitMs * 1.5, LONGEST_MS);
      timer = setTimeout(run, waitMs);
    }
    return () => clearTimeout(timer);
  }, [isLive, newest]);
  return isLive ? tick : 0;
}
