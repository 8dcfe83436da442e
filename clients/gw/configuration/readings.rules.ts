import type { AccountState, CurrentApp } from './account-state.js';

/** The state of an account, each object with its version. */
export type Readings = Readonly<Record<string, string>>;

/** @param apps those whose configurations were read. */
export function readingsOf(
  { providers, gateways, apps: all }: AccountState,
  apps: readonly Pick<CurrentApp, 'id' | 'revision'>[],
): Readings {
  const revisions = new Map(apps.map(({ id, revision }) => [id, revision]));
  const versionOf = (id: string, revision: number | undefined) =>
    revision === undefined ? id : `${id}, revision ${revision}`;
  return Object.fromEntries([
    ...providers.map(({ slug, id, revision }) => [`provider ${slug}`, versionOf(id, revision)]),
    ...[...gateways].map(([name, id]) => [`provider gateway ${name}`, id ?? 'several']),
    ...all.map(({ id, handle }) => [`application ${handle ?? id}`, versionOf(id, revisions.get(id))]),
  ]);
}

/** The changes between two readings, one phrase each. */
export function movesBetween(before: Readings, after: Readings): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [was, is] = [before, after].map((readings) => (Object.hasOwn(readings, name) ? readings[name] : undefined));
    if (was === is) return [];
    if (was === undefined) return [`${name} was added`];
    return is === undefined ? [`${name} was removed`] : [`${name} was changed (${was} became ${is})`];
  });
}
