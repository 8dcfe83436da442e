import { type AddressRange, type IpAddress, isWithin, parseIp, unmapped } from '../outbound/address.rules.js';

/** The address of a peer without one. */
const NO_ADDRESS = 'local';
/** Longer than any real proxy chain; bounds the work for a long header. */
const MAX_HOPS = 32;
/** Maximum length of an entry: IPv6 with a zone, brackets and a port. */
const MAX_HOP_CHARACTERS = 80;
const BRACKETED = /^\[([^[\]]+)\](?::\d{1,5})?$/;
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/;
const ZONE = /%.+$/;
/** Number of 16-bit groups in the prefix of a /64 network. */
const NETWORK_GROUPS = 4;

/** The parts of a request that say where it is from. */
interface AddressedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
}

/**
 * The address that a request is counted under.
 *
 * @param proxies the setting `TRUSTED_PROXIES`.
 * @returns the result of `clientAddress`.
 */
export function addressOf({ headers, raw }: AddressedRequest, proxies: readonly AddressRange[]): string {
  const forwardedFor = headers['x-forwarded-for'];
  return clientAddress(
    raw.socket.remoteAddress,
    Array.isArray(forwardedFor) ? forwardedFor.join() : forwardedFor,
    proxies,
  );
}

/**
 * The address that a call is counted under: the peer's address, unless the peer is a trusted proxy. Then it is the
 * nearest address in `X-Forwarded-For`, from the right, that is not a trusted proxy. Entries further left come from the
 * client and are never used. An invalid entry ends the search at the last valid address. IPv4-mapped addresses count as
 * IPv4. IPv6 addresses count by their /64, because one subscriber usually has a whole /64.
 *
 * @param peer remote address of the socket; `undefined` when it has none.
 * @param forwardedFor the header; several headers joined by commas.
 * @param proxies the setting `TRUSTED_PROXIES`; empty: the header is ignored.
 * @returns an IPv4 address, an IPv6 network such as `2001:db8:0:1::/64`, or `local`.
 * Source: docs/reference/application-api.md#address-limits, docs/reference/security.md#client-addresses.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  proxies: readonly AddressRange[],
): string {
  let address = parseHop(peer ?? '');
  if (address === undefined) return NO_ADDRESS;
  let rest = forwardedFor;
  for (let hops = 0; rest !== undefined && hops < MAX_HOPS && isOneOf(proxies, address); hops++) {
    const comma = rest.lastIndexOf(',');
    const named = parseHop(rest.slice(comma + 1));
    if (named === undefined) break;
    address = named;
    rest = comma < 0 ? undefined : rest.slice(0, comma);
  }
  return countedAs(address);
}

/** Parses one entry: an address, optionally with port, brackets or zone. */
function parseHop(entry: string): IpAddress | undefined {
  const text = entry.trim();
  if (text.length > MAX_HOP_CHARACTERS) return undefined;
  const bare = BRACKETED.exec(text)?.[1] ?? IPV4_WITH_PORT.exec(text)?.[1] ?? text;
  const address = parseIp(bare.includes(':') ? bare.replace(ZONE, '') : bare);
  return address && unmapped(address);
}

function isOneOf(proxies: readonly AddressRange[], address: IpAddress): boolean {
  return proxies.some((range) => isWithin(address, range));
}

function countedAs(address: IpAddress): string {
  if (!('parts' in address)) return address.toString();
  const network = address.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
