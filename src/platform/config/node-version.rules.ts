/**
 * The minimum Node version of each supported major. Other majors below the newest are refused; newer ones are accepted.
 */
const FLOORS: readonly (readonly [major: number, minor: number, patch: number])[] = [[24, 18, 1]];

/**
 * The reason to refuse a Node version, or `undefined` for a supported one.
 *
 * @param version as in `process.versions.node`, for example `24.21.0`.
 */
export function nodeVersionProblem(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const newest = FLOORS[FLOORS.length - 1] ?? [0, 0, 0];
  if (major > newest[0]) return undefined;
  const floor = FLOORS.find((candidate) => candidate[0] === major);
  if (floor && (minor > floor[1] || (minor === floor[1] && patch >= floor[2]))) return undefined;
  return (
    `Node ${version} is too old to serve traffic: Node ${newest.join('.')} or newer is needed. Start with "npm ` +
    `start", which uses the Node that this project installs.`
  );
}
