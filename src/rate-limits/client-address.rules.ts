import { type AddressRange, type IpAddress, isWithin, parseIp, unmapped } from '../platform/outbound/address.rules.js';

/** Stands for a peer without an address. */
const NO_ADDRESS = 'local';
/** More proxies in a row than any deployment has; bounds the work a long header can ask for. */
const MAX_HOPS = 32;
/** The longest spelling: IPv6 with a zone, brackets and a port. */
const MAX_HOP_CHARACTERS = 80;
const BRACKETED = /^\[([^[\]]+)\](?::\d{1,5})?$/;
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/;
const ZONE = /%.+$/;
/** Groups of 16 bits that name an IPv6 network of 64 bits. */
const NETWORK_GROUPS = 4;

/**
 * The address a call is counted under. The peer's own, unless the peer is a trusted proxy: then the nearest address in
 * `X-Forwarded-For`, from the right, that is none. What a client wrote stands further left and is never reached. An
 * entry that is no address ends the walk at the nearest proxy before it. IPv4-mapped addresses are IPv4; IPv6 counts by
 * its /64, because a household owns that many.
 *
 * @param peer address of the socket's other end; `undefined` where it has none.
 * @param forwardedFor the header, several of them joined by commas.
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

/** Reads one entry: an address, perhaps with port, brackets or zone. */
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
