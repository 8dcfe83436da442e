/** The oldest Node that `gw` runs on. Its documentation and its package name it too. */
export const NODE_FLOOR = '20.19.0';

/** Why `gw` does not run on this Node; undefined if it does. @param version as `20.19.1`. */
export function refusalOfNode(version: string): string | undefined {
  const [oldest, given] = [NODE_FLOOR, version].map((text) => text.split('.').map(Number));
  const at = oldest?.findIndex((part, index) => part !== given?.[index]) ?? -1;
  if (at < 0 || (given?.[at] ?? 0) > (oldest?.[at] ?? 0)) return undefined;
  return `gw needs Node ${NODE_FLOOR} or newer; this is Node ${version}.`;
}
