/** Node's major version that the options were measured with. V8 may give them another meaning, or none, in others. */
const MEASURED_MAJOR = '24';

/**
 * Options of V8 for a process that serves calls. `npm start`, the image, the benchmarks and the tests start the service
 * with them; workers take them from their primary process. Source: ADR 0063.
 */
const ENGINE_OPTIONS: readonly string[] = [
  '--expose-gc',
  '--max-semi-space-size=16',
  '--heap-growing-percent=60',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer-favors-memory',
  '--no-maglev-destroy-on-background',
];

/**
 * Options of V8 to start the service with.
 *
 * @param nodeVersion as in `process.versions.node`, for example `24.21.0`.
 * @returns none for a Node major that they were not measured with.
 */
export function engineOptions(nodeVersion: string): readonly string[] {
  return nodeVersion.startsWith(`${MEASURED_MAJOR}.`) ? ENGINE_OPTIONS : [];
}

/** Why this process runs without the engine options; `undefined` where it has all of them. */
export function engineOptionsProblem(nodeVersion: string, execArgv: readonly string[]): string | undefined {
  const options = engineOptions(nodeVersion);
  if (options.length === 0) return `they were measured with Node ${MEASURED_MAJOR}, and this is Node ${nodeVersion}`;
  const missing = options.filter((option) => !execArgv.includes(option));
  return missing.length > 0 ? `the process was started without ${missing.join(' ')}` : undefined;
}
