/** The oldest Node each supported line may have. Lines between and below are refused. */
const FLOORS: readonly (readonly [major: number, minor: number, patch: number])[] = [[24, 18, 1]];

/**
 * Says why a Node version must not serve traffic, or `undefined` when it may.
 *
 * @param version as in `process.versions.node`, for example `24.21.0`.
 */
export function nodeVersionProblem(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const newest = FLOORS[FLOORS.length - 1] ?? [0, 0, 0];
  if (major > newest[0]) return undefined;
  const floor = FLOORS.find((candidate) => candidate[0] === major);
  if (floor && (minor > floor[1] || (minor === floor[1] && patch >= floor[2]))) return undefined;
  return `Node ${version} is too old to serve traffic: Node ${newest.join('.')} or newer is needed. Start with "npm start", which uses the Node this project brings along.`;
}
