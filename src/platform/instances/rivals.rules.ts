/** An instance that lives, as another one sees it that would serve from the same database. */
export interface Neighbour {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly usesRedis: boolean;
  /** Of the Redis that it counts in, see `RedisMark`; null where that did not answer, or it does not tell. */
  readonly redisMark: string | null;
  /** When it gave its last sign of life; only equality means anything. */
  readonly seenAt: string;
}

/** What decides whom an instance can serve beside. */
interface OwnRedis {
  readonly usesRedis: boolean;
  /** Null where it does not answer. */
  readonly redisMark: string | null;
}

/** Those that an instance cannot serve beside: counts are shared through Redis, so both must have one, and the same. */
export function rivalsOf({ usesRedis, redisMark }: OwnRedis, neighbours: readonly Neighbour[]): readonly Neighbour[] {
  return neighbours.filter(
    (neighbour) => !usesRedis || !neighbour.usesRedis || isOther(redisMark, neighbour.redisMark),
  );
}

/** Both marks are known, and they are not the same. */
export function isOther(mark: string | null, other: string | null): boolean {
  return mark !== null && other !== null && mark !== other;
}

/** One that gave a sign of life since it was looked at first. @param firstSeenAt by id. */
export function beatingOf(
  rivals: readonly Neighbour[],
  firstSeenAt: ReadonlyMap<string, string>,
): Neighbour | undefined {
  return rivals.find(({ id, seenAt }) => (firstSeenAt.get(id) ?? seenAt) !== seenAt);
}

/** Why an instance does not start beside this one, and what to do. */
export function refusalBeside({ host, pid, usesRedis: theyDo }: Neighbour, usesRedis: boolean): string {
  const who = `process ${pid} on ${host}`;
  const why = 'Several instances count together through Redis';
  if (usesRedis && theyDo) {
    return `REDIS_URL names another Redis than that of ${who}, which serves from this database. ${why}: give all of them the same REDIS_URL, or stop that one.`;
  }
  return usesRedis
    ? `REDIS_URL is set, but ${who} serves from this database without it. ${why}: restart that one with the same REDIS_URL, or stop it.`
    : `REDIS_URL is not set, and ${who} serves from this database already. ${why}: set REDIS_URL on every one, to the same Redis, or stop that one.`;
}
