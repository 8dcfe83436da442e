export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Credentials; empty text where the address has none. */
interface RedisCredentials {
  readonly username: string;
  readonly password: string;
}

/** The target of `REDIS_URL`: one server, a master behind sentinels, or a cluster. */
export type RedisAddress = {
  readonly tls: boolean;
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly credentials: RedisCredentials;
} & (
  | { readonly kind: 'single'; readonly database: number }
  | {
      readonly kind: 'sentinel';
      readonly database: number;
      /** The master's name in the sentinels. */
      readonly name: string;
      /** Credentials of the sentinels; those of the server apply only when the address repeats them. */
      readonly sentinelCredentials: RedisCredentials;
    }
  | { readonly kind: 'cluster' }
);

/** The forms of `REDIS_URL`, for error messages. */
export const REDIS_ADDRESS_FORM =
  'redis[s]://[user:password@]host[:port][/database], redis[s]+sentinel://[user:password@]host[:port],…[/database]?name=master[&sentinelUsername=…][&sentinelPassword=…] or redis[s]+cluster://[user:password@]host[:port],…';

const ADDRESS =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<database>\d{0,4}))?(?:\?(?<query>[^#]*))?$/i;
const HOST = /^(?:\[(?<ip6>[0-9a-f:.]+)\]|(?<name>[a-z0-9._-]+))(?::(?<port>\d{1,5}))?$/i;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;
const HIGHEST_PORT = 65_535;
const SENTINEL_QUERY = ['name', 'sentinelUsername', 'sentinelPassword'];

/**
 * Parses a Redis address. Unsupported parts are refused, because the driver would read a query as its own settings.
 *
 * @returns `undefined` for any other text.
 */
export function parseRedisAddress(text: string): RedisAddress | undefined {
  const { tls, kind = 'single', user, password, hosts, database, query } = ADDRESS.exec(text.trim())?.groups ?? {};
  const credentials = credentialsOf(user, password);
  const [first, ...others] = hostsOf(hosts, kind.toLowerCase() === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  if (credentials === undefined || first === undefined) return undefined;
  const common = { tls: tls !== '', hosts: [first, ...others], credentials } as const;
  switch (kind.toLowerCase()) {
    case 'sentinel':
      return withSentinel(common, Number(database ?? 0), query);
    case 'cluster':
      return query === undefined && !database ? { ...common, kind: 'cluster' } : undefined;
    default:
      if (query !== undefined || others.length > 0) return undefined;
      return { ...common, kind: 'single', database: Number(database ?? 0) };
  }
}

/** As {@link parseRedisAddress}. @throws Error for any other text, without repeating it. */
export function requireRedisAddress(text: string): RedisAddress {
  const address = parseRedisAddress(text);
  if (address === undefined) throw new Error(`the address of Redis is not ${REDIS_ADDRESS_FORM}`);
  return address;
}

function withSentinel(
  common: Pick<RedisAddress, 'tls' | 'hosts' | 'credentials'>,
  database: number,
  query = '',
): RedisAddress | undefined {
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  const name = parameters.get('name') ?? '';
  const isKnown = names.every((one) => SENTINEL_QUERY.includes(one)) && new Set(names).size === names.length;
  if (name === '' || !isKnown) return undefined;
  const sentinelCredentials = {
    username: parameters.get('sentinelUsername') ?? '',
    password: parameters.get('sentinelPassword') ?? '',
  };
  return { ...common, kind: 'sentinel', database, name, sentinelCredentials };
}

/** @returns an empty list when one of them is invalid. */
function hostsOf(text: string | undefined, defaultPort: number): RedisHost[] {
  const hosts: RedisHost[] = [];
  for (const entry of (text ?? '').split(',')) {
    const { ip6, name, port = defaultPort } = HOST.exec(entry)?.groups ?? {};
    const host = ip6 ?? name;
    if (host === undefined || Number(port) < 1 || Number(port) > HIGHEST_PORT) return [];
    hosts.push({ host: host.toLowerCase(), port: Number(port) });
  }
  return hosts;
}

function credentialsOf(user = '', password = ''): RedisCredentials | undefined {
  try {
    return { username: decodeURIComponent(user), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}
