import { useMemo } from 'react';
import { Kept, parsedOf, useKept } from '../session/kept';
import { useSession } from '../shell/session';
import type { StartProgress } from './progress.rules';

/** The progress of the person in the guide of the organization, in this browser. */
export function useStartProgress(): readonly [StartProgress, (progress: StartProgress) => void] {
  const { user, organization } = useSession();
  const kept = useMemo(() => new Kept(localStorage, user.id), [user.id]);
  const name = `start of ${organization?.id}`;
  const text = useKept(kept, name);
  const progress = useMemo(() => Object(parsedOf(text)) as StartProgress, [text]);
  return [progress, (next) => kept.set(name, JSON.stringify(next))];
}
