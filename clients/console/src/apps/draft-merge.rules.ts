import type { AppConfig } from './app-config.rules';

/** The parts of an application that a person edits. */
export interface Draft {
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly config: AppConfig;
}

/** A value of JSON. Lists count as one value: merging them entry by entry would mix two orders. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json };

type Path = readonly string[];

/** A member that both sides have changed, each to something else. */
export interface Conflict {
  /** As `config.limits.per_app`. */
  readonly path: string;
  readonly mine: Json;
  readonly theirs: Json;
}

/** Which side wins at the path of a conflict. */
export type Winner = 'mine' | 'theirs';

interface Change {
  readonly path: Path;
  readonly value: Json;
}

/** The members that both sides changed, each to a different value. */
export function conflictsOf(base: Json, mine: Json, theirs: Json): readonly Conflict[] {
  const own = changesOf(base, mine);
  const foreign = changesOf(base, theirs);
  return own.flatMap(({ path }) => {
    const overlaps = foreign.some((change) => isWithin(change.path, path) || isWithin(path, change.path));
    const [ours, other] = [at(mine, path), at(theirs, path)];
    return overlaps && !isSame(ours, other) ? [{ path: path.join('.'), mine: ours, theirs: other }] : [];
  });
}

/** Their version with my changes in it, except those that lose a conflict. */
export function merged(base: Json, mine: Json, theirs: Json, winners: Readonly<Record<string, Winner>> = {}): Json {
  return changesOf(base, mine)
    .filter(({ path }) => winners[path.join('.')] !== 'theirs')
    .reduce((result, { path, value }) => withValue(result, path, value), theirs);
}

/** Whether two values are the same, whatever the order of their members. */
export function isSame(a: Json, b: Json): boolean {
  return a === b || changesOf(a, b).length === 0;
}

function changesOf(from: Json, to: Json, path: Path = []): readonly Change[] {
  if (isMap(from) && isMap(to)) {
    const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...keys].flatMap((key) => changesOf(own(from, key), own(to, key), [...path, key]));
  }
  const isEqual =
    Array.isArray(from) && Array.isArray(to)
      ? from.length === to.length && from.every((entry, index) => isSame(entry, to[index]))
      : from === to;
  return isEqual ? [] : [{ path, value: to }];
}

function withValue(into: Json, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value;
  const map = isMap(into) ? into : {};
  const { [key]: before, ...others } = map;
  const after = withValue(before, rest, value);
  return after === undefined ? others : { ...map, [key]: after };
}

function at(value: Json, path: Path): Json {
  return path.reduce<Json>((inner, key) => (isMap(inner) ? own(inner, key) : undefined), value);
}

function own(map: { readonly [key: string]: Json }, key: string): Json {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWithin(inner: Path, outer: Path): boolean {
  return outer.every((key, index) => inner[index] === key);
}
