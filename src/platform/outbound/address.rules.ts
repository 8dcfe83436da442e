import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: its address and prefix length in bits. */
export type AddressRange = [IpAddress, number];

/** All assigned IPv6 unicast space; addresses outside it are never public. */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3');

/** Networks whose last four bytes are an IPv4 address that a translator dials. */
const IPV4_AT_THE_END = ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.parseCIDR(text),
);
const SIX_TO_FOUR = ipaddr.parseCIDR('2002::/16');
const TEREDO = ipaddr.parseCIDR('2001::/32');
const LOCAL_NAT64 = ipaddr.parseCIDR('64:ff9b:1::/48');
/** The third 32-bit group of an ISATAP address; the fourth is an IPv4 address (RFC 5214, 6.1). */
const ISATAP = /^0[02]005efe$/;

/**
 * Cloud metadata networks: all of link-local, the special addresses of the large clouds, and their IPv6 equivalents.
 */
const METADATA_RANGES = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::/48',
  'fe80::a9fe:a9fe/128',
].map((text) => ipaddr.parseCIDR(text));

/**
 * Parses an address in canonical form: four decimal parts, or IPv6 without a zone. Octal, hexadecimal and short forms
 * are names for the resolver, not addresses, and give `undefined`.
 */
export function parseIp(text: string): IpAddress | undefined {
  return isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.parse(text);
}

/**
 * Parses an address or a CIDR network. Bits beyond the prefix are refused, because `10.1.2.3/8` is ambiguous between
 * host and network. Networks of IPv4-mapped addresses are refused too: such addresses compare as IPv4, so the network
 * would never match.
 */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.lastIndexOf('/');
  const written = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (written === undefined) return undefined;
  if (slash < 0) return singleAddress(unmapped(written));
  if (!ipaddr.isValidCIDR(text) || unmapped(written) !== written) return undefined;
  const [address, prefix] = ipaddr.parseCIDR(text);
  const family = address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.networkAddressFromCIDR(text).toString() === address.toString() ? [address, prefix] : undefined;
}

function singleAddress(address: IpAddress): AddressRange {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** True when the address is in the network; false for another address family. */
export function isWithin(address: IpAddress, range: AddressRange): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}

/** The IPv4 address of an IPv4-mapped one (`::ffff:a.b.c.d`), any other address unchanged. */
export function unmapped(address: IpAddress): IpAddress {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * True only for publicly routed addresses. Private, shared, local, documentation, benchmarking, multicast, reserved and
 * unassigned ranges are not public, nor are IPv6 addresses that embed IPv4 (mapped, NAT64, 6to4, Teredo), metadata
 * addresses, or text that is not an address. Source: docs/reference/security.md#outbound-addresses.
 */
export function isPublicAddress(ip: string): boolean {
  const address = parseIp(ip);
  if (address === undefined || isMetadata(address) || address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isWithin(address, GLOBAL_UNICAST_V6);
}

/**
 * True for cloud metadata addresses, also when embedded in IPv6. They are refused even on trusted hosts. Source:
 * docs/reference/security.md#outbound-addresses.
 */
export function isMetadataAddress(ip: string): boolean {
  const address = parseIp(ip);
  return address !== undefined && isMetadata(address);
}

/** True when the network holds only metadata addresses: trusting it has no effect. */
export function isMetadataRange([address, prefix]: AddressRange): boolean {
  if (prefix === singleAddress(address)[1]) return isMetadata(address);
  return METADATA_RANGES.some((range) => range[1] <= prefix && isWithin(address, range));
}

function isMetadata(address: IpAddress): boolean {
  const reached = address instanceof ipaddr.IPv6 ? [address, ...carriedIpv4(address)] : [address];
  return reached.some((one) => METADATA_RANGES.some((range) => isWithin(one, range)));
}

/** The IPv4 addresses that a translator or tunnel could reach through this IPv6 address. */
function carriedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (...indexes: number[]) => new ipaddr.IPv4(indexes.map((index) => bytes[index] ?? 0));
  const carried: ipaddr.IPv4[] = [];
  if (IPV4_AT_THE_END.some((range) => isWithin(address, range))) carried.push(at(12, 13, 14, 15));
  // A local NAT64 prefix has any of these lengths, and the IPv4 address follows it (RFC 6052, 2.2).
  if (isWithin(address, LOCAL_NAT64)) carried.push(at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12));
  if (isWithin(address, SIX_TO_FOUR)) carried.push(at(2, 3, 4, 5));
  // Teredo stores the client's address with every bit inverted.
  if (isWithin(address, TEREDO)) carried.push(new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff)));
  if (ISATAP.test(Buffer.from(bytes.slice(8, 12)).toString('hex'))) carried.push(at(12, 13, 14, 15));
  return carried;
}

/** Internal host names of cloud metadata services. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.azure.com',
  'metadata.tencentyun.com',
  'metadata.oraclecloud.com',
  'metadata.platformequinix.com',
  'metadata.packet.net',
  'instance-data',
  'instance-data.ec2.internal',
]);

/**
 * True for a metadata service, by address or name. Calls to it are refused even when the host is trusted.
 *
 * @param hostname as `URL.hostname` writes it, which normalizes IPv4 addresses. IPv6 brackets, a trailing dot and
 * letter case are ignored.
 */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '');
  return METADATA_NAMES.has(host) || isMetadataAddress(host);
}
