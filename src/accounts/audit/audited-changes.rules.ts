type Scalar = string | number | boolean | null;

/** The value of a member as the trail records it; a list only where it holds plain values. */
export type AuditedValue = Scalar | readonly Scalar[];

/** A changed member. */
export interface AuditedChange {
  /** Its place, such as `limits.per_user.requests.per_day`. */
  readonly path: string;
  /** Null: it was absent, or it is not recorded. */
  readonly from: AuditedValue;
  /** Null: it is absent, or it is not recorded. */
  readonly to: AuditedValue;
  /** Whether the values are left out, because members with this path are not known to be free of secrets. */
  readonly redacted: boolean;
}

const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 50;

/**
 * The members that differ, by leaf, sorted. Values are recorded only for the listed paths: anything else may hold a
 * secret, and so may the names inside it, so it is one change without values. An absent member counts as null. Changes
 * with values come first.
 *
 * @param shown paths such as `limits.**` or `endpoints.*.model`: `*` stands for one member, `**` for any below.
 */
export function auditedChanges(before: unknown, after: unknown, shown: readonly string[]): readonly AuditedChange[] {
  const patterns = shown.map((path) => path.split('.'));
  const [old, next] = [leavesOf(before), leavesOf(after)];
  const changes = new Map<string, AuditedChange>();
  for (const key of [...new Set([...old.keys(), ...next.keys()])].sort()) {
    const [from = null, to = null] = [old.get(key), next.get(key)];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    const members: readonly string[] = JSON.parse(key);
    const redacted = !patterns.some((pattern) => isListed(members, pattern));
    const path = shownPath(
      redacted ? members.slice(0, Math.max(...patterns.map((one) => depthOf(members, one)))) : members,
    );
    const values = redacted ? { from: null, to: null } : { from: bounded(from), to: bounded(to) };
    changes.set(path, { path, ...values, redacted });
  }
  const all = [...changes.values()];
  return [...all.filter(({ redacted }) => !redacted), ...all.filter(({ redacted }) => redacted)];
}

/** Every plain value and list of plain values by its path, as JSON. An empty object is not a value. */
function leavesOf(
  value: unknown,
  members: readonly string[] = [],
  leaves = new Map<string, AuditedValue>(),
): Map<string, AuditedValue> {
  if (isLeaf(value)) return leaves.set(JSON.stringify(members), value);
  for (const [name, member] of Object.entries(value ?? {})) leavesOf(member, [...members, name], leaves);
  return leaves;
}

function isLeaf(value: unknown): value is AuditedValue {
  return isScalar(value) || (Array.isArray(value) && value.every(isScalar));
}

function isList(value: AuditedValue): value is readonly Scalar[] {
  return Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Where a path and a pattern diverge; -1 when every member of the pattern is in the path. */
function partingOf(members: readonly string[], pattern: readonly string[]): number {
  return pattern.findIndex((name, at) => at >= members.length || (name !== '*' && name !== members[at]));
}

function isListed(members: readonly string[], pattern: readonly string[]): boolean {
  const parting = partingOf(members, pattern);
  return parting === -1 ? members.length === pattern.length : pattern[parting] === '**';
}

/** How many members of a path are names of the configuration: those of the pattern, and the one beside it. */
function depthOf(members: readonly string[], pattern: readonly string[]): number {
  const parting = partingOf(members, pattern);
  return Math.min(parting === -1 ? pattern.length : parting + 1, members.length);
}

function shownPath(members: readonly string[]): string {
  return members
    .map((name, at) => (/^[\w-]+$/.test(name) ? `${at === 0 ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`))
    .join('');
}

function bounded(value: AuditedValue): AuditedValue {
  if (typeof value === 'string') return cut(value);
  if (!isList(value)) return value;
  const list = value.map((one) => (typeof one === 'string' ? cut(one) : one));
  const rest = list.length - MAX_LIST_LENGTH;
  return rest > 0 ? [...list.slice(0, MAX_LIST_LENGTH), `… ${rest} more`] : list;
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}
