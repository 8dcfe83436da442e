/** Another live instance on the same database. */
export interface Neighbour {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly usesRedis: boolean;
  /** The mark of its Redis, see `RedisIdentity`; null without Redis or an answer. */
  readonly redisMark: string | null;
  /** Time of its last heartbeat; compared for equality only. */
  readonly seenAt: string;
}

/** Determines which instances can run together. */
interface OwnRedis {
  readonly usesRedis: boolean;
  /** Null when Redis does not answer. */
  readonly redisMark: string | null;
}

/** The incompatible instances: counts are shared through Redis, so both need one, and the same. */
export function incompatibleWith(
  { usesRedis, redisMark }: OwnRedis,
  neighbours: readonly Neighbour[],
): readonly Neighbour[] {
  return neighbours.filter(
    (neighbour) => !usesRedis || !neighbour.usesRedis || isOther(redisMark, neighbour.redisMark),
  );
}

/** True when both marks are known and differ. */
export function isOther(mark: string | null, other: string | null): boolean {
  return mark !== null && other !== null && mark !== other;
}

/** The first instance with a heartbeat since the first check. @param firstSeenAt by id. */
export function firstRenewed(
  conflicting: readonly Neighbour[],
  firstSeenAt: ReadonlyMap<string, string>,
): Neighbour | undefined {
  return conflicting.find(({ id, seenAt }) => (firstSeenAt.get(id) ?? seenAt) !== seenAt);
}

/** The error message of a start that a running instance prevents, with a remedy. */
export function incompatibilityMessage({ host, pid, usesRedis: theyDo }: Neighbour, usesRedis: boolean): string {
  const who = `process ${pid} on ${host}`;
  const why = 'Several instances count together through Redis';
  if (usesRedis && theyDo) {
    return (
      `REDIS_URL names a different Redis than that of ${who}, which serves from this database. ${why}: give ` +
      `all of them the same REDIS_URL, or stop that one.`
    );
  }
  return usesRedis
    ? `REDIS_URL is set, but ${who} serves from this database without it. ${why}: restart that one with the same REDIS_URL, or stop it.`
    : `REDIS_URL is not set, and ${who} serves from this database already. ${why}: set REDIS_URL on every one, to the same Redis, or stop that one.`;
}
