/** What we read of a line of `/proc/<pid>/stat`. */
export interface ProcessStat {
  /** Clock ticks between the machine's boot and the process's start. */
  readonly startTicks: string;
  /** The process has ended and only waits for its parent to notice. */
  readonly ended: boolean;
}

/** Position of the start time among the fields that follow the name (it is field 22 of the line, counted from 1). */
const START_TICKS = 19;

/**
 * Parses a line of `/proc/<pid>/stat`. The second field, the name, may itself hold spaces and parentheses.
 *
 * @returns `undefined` when the line is something else.
 */
export function parseProcessStat(line: string): ProcessStat | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[START_TICKS]];
  if (state === undefined || startTicks === undefined || !/^\d+$/.test(startTicks)) return undefined;
  return { startTicks, ended: state === 'Z' || state === 'X' };
}
