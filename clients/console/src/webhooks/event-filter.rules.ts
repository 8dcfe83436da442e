/** A type of event, and its meaning. */
export interface EventType {
  readonly type: string;
  readonly means: string;
}

/** Types of events with one subject, such as those of application keys. */
export interface EventGroup {
  /** Stands for all of them, as `app_key.*`. */
  readonly prefix: string;
  readonly subject: string;
  readonly types: readonly EventType[];
}

/** Types by their subject, in the order given. */
export function groupsOf(types: readonly EventType[]): readonly EventGroup[] {
  const groups = Map.groupBy(types, ({ type }) => type.slice(0, type.indexOf('.')));
  return [...groups].map(([subject, own]) => ({ prefix: `${subject}.*`, subject, types: own }));
}

/** A filter with a group, or without it. */
export function withGroup(filter: readonly string[], group: EventGroup, isChosen: boolean): string[] {
  const rest = filter.filter((entry) => entry !== group.prefix && !group.types.some(({ type }) => type === entry));
  return isChosen ? [...rest, group.prefix] : rest;
}

/** A filter with a type, or without it. */
export function withType(filter: readonly string[], type: string, isChosen: boolean): string[] {
  const rest = filter.filter((entry) => entry !== type);
  return isChosen ? [...rest, type] : rest;
}
