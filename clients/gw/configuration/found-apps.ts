import type { AccountState } from './account-state.js';
import { summaryOf } from './account-state.js';
import type { DesiredApp } from './configuration-files.js';
import type { Placed } from './directory.js';
import { invalid, type Problems } from './problems.js';

/** A stored application that a file describes, and how it was found. */
export interface Found {
  readonly summary: AccountState['apps'][number];
  /** `handle`: or the id of one without. `moved`: a previous handle. `name`: it has no handle. */
  readonly how: 'handle' | 'moved' | 'name';
}

export type FoundApps = ReadonlyMap<Placed<DesiredApp>, Found>;

/**
 * The stored applications that files describe. @param problems collects files that describe the same application, or
 * several.
 */
export function foundApps(
  { apps }: AccountState,
  placed: readonly Placed<DesiredApp>[],
  problems: Problems,
): FoundApps {
  const found = new Map<Placed<DesiredApp>, Found>();
  const owners = new Map<string, Placed<DesiredApp>>();
  const take = (one: Placed<DesiredApp>, summary: Found['summary'] | undefined, how: Found['how']) => {
    if (summary === undefined) return;
    const other = owners.get(summary.id);
    if (other !== undefined) {
      problems.add(invalid(one.at('handle'), `${other.at('handle').file} names the same application`));
      return;
    }
    owners.set(summary.id, one);
    found.set(one, { summary, how });
  };
  for (const one of placed) take(one, summaryOf(apps, one.desired.handle), 'handle');
  for (const one of placed.filter((left) => !found.has(left))) {
    const stored = one.desired.movedFrom.flatMap((handle) => summaryOf(apps, handle) ?? []);
    take(one, stored[0], 'moved');
  }
  for (const one of placed.filter((left) => !found.has(left))) {
    const named = apps.filter(
      ({ id, handle, name }) => handle === null && name === one.desired.name && !owners.has(id),
    );
    if (named.length > 1) {
      const ids = named.map(({ id }) => id).join(', ');
      const nextAction = `Give the right one its handle: gw app update ${named[0]?.id} --handle ${one.desired.handle}`;
      problems.add(invalid(one.at('name'), `several applications without a handle have this name: ${ids}`, nextAction));
    } else take(one, named[0], 'name');
  }
  return found;
}
