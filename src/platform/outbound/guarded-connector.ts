import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { lruCache } from '../../common/lru-cache.js';
import { isMetadataAddress, isMetadataHost, isPublicAddress, parseIp } from './address.rules.js';
import { egressConnector } from './egress/egress-connector.js';
import { type EgressSettings, proxyFor } from './egress/egress-proxy.rules.js';
import type { OwnAddresses } from './own-addresses.js';
import type { TrustedHosts } from './trusted-hosts.rules.js';
import { bareHost, dialledPort, hostAndPort } from './url-host.rules.js';

/** Resolves all addresses of a name, in connection order. */
export type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface GuardedConnectorOptions {
  readonly trustedHosts: TrustedHosts;
  /** The operator's proxies; by default everything is dialled directly. */
  readonly egress?: EgressSettings;
  /** The listener of this process is refused. */
  readonly own?: OwnAddresses;
  /** Whether the origin of `PUBLIC_URL` is refused too, whatever its name resolves to. */
  readonly refusesPublicUrl?: boolean;
  /** Timeout in milliseconds for name resolution, TCP, CONNECT and TLS together; 10,000 by default. */
  readonly connectTimeoutMs?: number;
  /** The operating system's resolver by default. */
  readonly resolver?: Resolver;
  /** Memory that sockets read into; see `readingInto`. By default each read gets its own. */
  readonly readBuffer?: Uint8Array;
}

/** The target of a connection, before name resolution. */
interface Destination {
  readonly protocol: string;
  readonly port: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
const METADATA_REFUSED = 'metadata addresses are never reached';
const HTTP_REFUSED = 'plain http needs a trusted host';
const OWN_REFUSED = 'this is the gateway itself';
/** TLS sessions are cached per protocol and port; callers choose ports, so the cache is bounded. */
const MAX_DIALERS = 100;

/** The gateway refused the connection before sending a byte. */
export class BlockedAddressError extends Error {
  readonly code: 'ERR_BLOCKED_ADDRESS' | 'ERR_OWN_ADDRESS' = 'ERR_BLOCKED_ADDRESS';

  /**
   * @param address for the operator's log; the message omits it, because a resolved address exposes the internal
   * network.
   */
  constructor(
    host: string,
    readonly address: string,
    problem: string,
  ) {
    super(`${host}: ${problem}`);
    this.name = 'BlockedAddressError';
  }
}

/** The refused address is one of this deployment. */
export class OwnAddressError extends BlockedAddressError {
  override readonly code = 'ERR_OWN_ADDRESS';

  constructor(host: string, address: string) {
    super(host, address, OWN_REFUSED);
    this.name = 'OwnAddressError';
  }
}

/**
 * A connector, as undici defines it, that checks the address it dials: a name is resolved once per connection, every
 * result is checked, and only those results are dialled, which defeats DNS rebinding. Plain http and private addresses
 * need trust; metadata addresses, and this process itself, are always refused. HTTP/1.1 only; certificates are verified
 * against Node's own roots (and `NODE_EXTRA_CA_CERTS`).
 *
 * Through a proxy, only the text is checked: the operator's proxy resolves the name.
 *
 * Errors: `BlockedAddressError`, `EgressProxyError`, or the network's error.
 * Source: docs/reference/security.md#outbound-addresses.
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const dialers = lruCache<buildConnector.connector>(MAX_DIALERS);
  const dialerFor = (destination: Destination): buildConnector.connector => {
    const key = `${destination.protocol}${destination.port}`;
    const dialer = dialers.get(key) ?? buildDialer(options, destination);
    dialers.set(key, dialer);
    return dialer;
  };
  return ({ hostname, host, protocol, port, servername, localAddress }, callback) => {
    const dialled = bareHost(hostname);
    const destination = { protocol, port: String(dialledPort({ protocol, port })) };
    const refusal = refusalOfText(dialled, destination, options);
    if (refusal !== undefined) {
      queueMicrotask(() => callback(refusal, null));
      return;
    }
    dialerFor(destination)({ hostname: dialled, host, protocol, port, servername, localAddress }, callback);
  };
}

/**
 * Names of metadata services, and the name of this deployment, are refused whatever they resolve to. Node resolves no
 * literal addresses, and no names that a proxy resolves.
 */
function refusalOfText(
  host: string,
  destination: Destination,
  options: GuardedConnectorOptions,
): BlockedAddressError | undefined {
  if (isMetadataHost(host)) return new BlockedAddressError(host, host, METADATA_REFUSED);
  const isPublicUrl = options.own?.isPublic({ hostname: host, ...destination });
  if (options.refusesPublicUrl && isPublicUrl) return new OwnAddressError(host, host);
  if (isIP(host) !== 0) return refusalOf(host, host, destination, options);
  if (destination.protocol === 'https:' || !isProxied(host, destination, options)) return undefined;
  const isTrusted = options.trustedHosts.allowsHost(hostAndPort(host, destination.port));
  return isTrusted ? undefined : new BlockedAddressError(host, host, HTTP_REFUSED);
}

function isProxied(hostname: string, destination: Destination, { egress }: GuardedConnectorOptions): boolean {
  return egress !== undefined && proxyFor(egress, { hostname, ...destination }) !== undefined;
}

function buildDialer(options: GuardedConnectorOptions, destination: Destination): buildConnector.connector {
  const resolver = options.resolver ?? resolveAll;
  const checked = async (host: string): Promise<LookupAddress[]> => {
    const answers = await resolver(host);
    if (answers.length === 0) throw new Error(`${host}: the name has no address`);
    for (const { address } of answers) {
      const refusal = refusalOf(host, address, destination, options);
      if (refusal !== undefined) throw refusal;
    }
    return [...answers];
  };
  const lookup: LookupFunction = (host, { all }, callback) => {
    checked(host).then(
      (answers) => (all ? callback(null, answers) : callback(null, answers[0]?.address ?? '', answers[0]?.family)),
      (error: Error) => callback(error, []),
    );
  };
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const dial = buildConnector({
    lookup,
    timeout: timeoutMs,
    allowH2: false,
    ...(options.readBuffer && { onread: readingInto(options.readBuffer) }),
  });
  return egressConnector(dial, options.egress, timeoutMs);
}

/**
 * Lets all sockets of a connector read into the same memory: their `data` events pass bytes that are valid until the
 * listener returns. Node otherwise allocates 64 KB for each read and frees what is left over.
 */
function readingInto(buffer: Uint8Array): OnReadOpts {
  return {
    buffer,
    callback(this: Socket, length: number, bytes: Uint8Array): boolean {
      this.emit('data', bytes.subarray(0, length));
      return true;
    },
  };
}

function refusalOf(
  host: string,
  address: string,
  { protocol, port }: Destination,
  { trustedHosts, own }: GuardedConnectorOptions,
): BlockedAddressError | undefined {
  const refuse = (problem: string) => new BlockedAddressError(host, address, problem);
  if (parseIp(address) === undefined) return refuse('the resolver gave something that is no plain address');
  if (isMetadataAddress(address)) return refuse(METADATA_REFUSED);
  if (own?.isListener(address, Number(port))) return new OwnAddressError(host, address);
  if (trustedHosts.allowsAddress(hostAndPort(host, port), address)) return undefined;
  if (protocol !== 'https:') return refuse(HTTP_REFUSED);
  return isPublicAddress(address) ? undefined : refuse('the address is not public');
}

function resolveAll(hostname: string): Promise<LookupAddress[]> {
  return systemLookup(hostname, { all: true, order: 'verbatim' });
}
