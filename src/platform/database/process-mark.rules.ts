/** The used fields of `/proc/<pid>/stat`. */
export interface ProcessStat {
  /** Clock ticks between boot and process start. */
  readonly startTicks: string;
  /** True for a zombie: ended, not yet reaped by its parent. */
  readonly ended: boolean;
}

/** Index of the start time among the fields after the name (field 22 of the line, counted from 1). */
const START_TICKS = 19;

/**
 * Parses `/proc/<pid>/stat`. The second field, the name, may contain spaces and parentheses.
 *
 * @returns `undefined` for any other text.
 */
export function parseProcessStat(line: string): ProcessStat | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[START_TICKS]];
  if (state === undefined || startTicks === undefined || !/^\d+$/.test(startTicks)) return undefined;
  return { startTicks, ended: state === 'Z' || state === 'X' };
}
