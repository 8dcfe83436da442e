import { isMetadataAddress } from './address.rules.js';

/** Names by which clouds offer their metadata service inside their networks. */
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
 * True for hosts where a cloud hands credentials to whoever asks, by address or name. No call goes there, whoever trusts
 * the host.
 *
 * @param hostname as `URL.hostname` writes it, which has one spelling for every spelling of an IPv4 address. Brackets
 *   of IPv6, a dot at the end and the case of letters make no difference.
 */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '');
  return METADATA_NAMES.has(host) || isMetadataAddress(host);
}
