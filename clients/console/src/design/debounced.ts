import { useEffect, useState } from 'react';

/** A pause in typing of this length ends a search text. */
const PAUSE_MS = 150;

/** The text when typing pauses: a search runs once, not for every letter. */
export function useDebounced(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
