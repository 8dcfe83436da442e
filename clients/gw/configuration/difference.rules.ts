import { isDeepStrictEqual } from 'node:util';

/** A part that differs. An absent part is undefined. */
export interface FieldChange {
  /** As `config.limits.per_user.requests.per_day`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The smallest parts that differ between two values. Lists differ as wholes. */
export function differences(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isDeepStrictEqual(plain(before), plain(after))) return [];
  if (!isTable(before) || !isTable(after)) {
    return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => differences(before[name], after[name], path === '' ? name : `${path}.${name}`));
}

/** The leaves that differ: a table that is absent has no leaves, and null is the same as absent. Lists are leaves. */
export function leafDifferences(before: unknown, after: unknown): readonly FieldChange[] {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) =>
    differences(was.get(path), is.get(path)).map((change) => ({ ...change, path })),
  );
}

function leavesOf(value: unknown, path = ''): ReadonlyMap<string, unknown> {
  if (value === undefined || value === null) return new Map();
  if (!isTable(value)) return new Map([[path, value]]);
  const members = Object.entries(value);
  return new Map(members.flatMap(([name, member]) => [...leavesOf(member, path === '' ? name : `${path}.${name}`)]));
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without prototypes, which differ between files and responses. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
