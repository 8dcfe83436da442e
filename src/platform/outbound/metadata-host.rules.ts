import { isMetadataAddress } from './address.rules.js';

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
