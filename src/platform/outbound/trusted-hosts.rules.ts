import {
  type AddressRange,
  type IpAddress,
  isMetadataAddress,
  isMetadataHost,
  isMetadataRange,
  isWithin,
  parseIp,
  parseRange,
  unmapped,
} from './address.rules.js';

/** A host and an optional port; `[v6]` brackets removed, names in lower case. */
interface Authority {
  readonly host: string;
  readonly port: number | undefined;
}

/** One entry of an operator's list: a name or a network, on one port or on all. */
export type HostEntry = { readonly port: number | undefined } & (
  | { readonly name: string }
  | { readonly range: AddressRange }
);

const WITH_PORT = /^(.+):([1-9][0-9]{0,4})$/;
const NAME = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** A URL parser reads a host whose last label matches this as an IPv4 address. */
const NUMERIC_END = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;
const MAX_NAME_LENGTH = 253;
const MAX_PORT = 65_535;
const DEFAULT_PORTS = new Set([80, 443]);

/**
 * Hosts and networks that outbound calls may reach although they are private or use plain http. Empty by default;
 * metadata addresses stay refused. Source: docs/reference/security.md#outbound-addresses.
 */
export class TrustedHosts {
  /** @param metadataEntries entries, as written, that name only metadata addresses and therefore have no effect. */
  constructor(
    private readonly entries: readonly HostEntry[],
    readonly metadataEntries: readonly string[] = [],
  ) {}

  /**
   * True when the host itself is listed: by name, or, for an address, by address or network.
   *
   * @param host a name or address, with or without port (`URL.host`). Without one it stands for the default ports 80
   * and 443, which URLs omit.
   */
  allowsHost(host: string): boolean {
    const authority = parseAuthority(host);
    if (isMetadataHost(authority.host)) return false;
    const address = parseIp(authority.host);
    return this.entries.some(
      (entry) =>
        coversPort(entry.port, authority.port) &&
        ('name' in entry ? entry.name === authority.host : covers(entry.range, address)),
    );
  }

  /**
   * True when a connection for `host` may go to `ip`: the host or the address is listed.
   *
   * @param host as for `allowsHost`; the port matters for entries with a port.
   */
  allowsAddress(host: string, ip: string): boolean {
    const { host: name, port } = parseAuthority(host);
    if (isMetadataHost(name) || isMetadataAddress(ip)) return false;
    const address = parseIp(ip);
    return (
      this.allowsHost(host) ||
      this.entries.some((entry) => 'range' in entry && coversPort(entry.port, port) && covers(entry.range, address))
    );
  }
}

/**
 * Parses the operator's list: host, host:port, address, address:port (`[v6]:port`) or network, separated by commas or
 * white space. Names match exactly, without subdomains.
 *
 * @throws Error naming the first invalid entry.
 */
export function parseTrustedHosts(text: string): TrustedHosts {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const parsed = entries.map(parseEntry);
  return new TrustedHosts(
    parsed,
    entries.filter((_text, index) => isMetadataEntry(parsed[index])),
  );
}

function isMetadataEntry(entry: HostEntry | undefined): boolean {
  if (entry === undefined) return false;
  return 'name' in entry ? isMetadataHost(entry.name) : isMetadataRange(entry.range);
}

function parseEntry(text: string): HostEntry {
  const entry = parseHostEntry(text);
  if (entry === undefined) throw new Error(`trusted hosts: "${text}" is not a host, host:port, address or CIDR`);
  return entry;
}

/** Parses one entry; `undefined` if it is not a host, host:port, address, address:port or network. */
export function parseHostEntry(text: string): HostEntry | undefined {
  return text.includes('/') ? parseNetwork(text) : parseHost(text);
}

function parseNetwork(text: string): HostEntry | undefined {
  const range = parseRange(text);
  return range && { range, port: undefined };
}

function parseHost(text: string): HostEntry | undefined {
  const { host, port } = parseAuthority(text);
  const range = parseRange(host);
  if (range !== undefined) return { range, port };
  if (host.length > MAX_NAME_LENGTH || !NAME.test(host) || NUMERIC_END.test(host)) return undefined;
  return { name: host, port };
}

function parseAuthority(text: string): Authority {
  const bare = parseIp(text) === undefined ? WITH_PORT.exec(text) : null;
  const port = bare === null ? undefined : Number(bare[2]);
  if (port !== undefined && port > MAX_PORT) return { host: text.toLowerCase(), port: undefined };
  const host = (bare?.[1] ?? text).toLowerCase();
  return { host: /^\[(.*:.*)\]$/.exec(host)?.[1] ?? host, port };
}

/** Whether an address is in a network, also as an IPv4-mapped one. */
export function covers(range: AddressRange, address: IpAddress | undefined): boolean {
  return address !== undefined && isWithin(unmapped(address), range);
}

/** Whether an entry applies to a port; without a port the host stands for the default ones. */
export function coversPort(entryPort: number | undefined, port: number | undefined): boolean {
  if (entryPort === undefined || entryPort === port) return true;
  return port === undefined && DEFAULT_PORTS.has(entryPort);
}
