/** Names of this machine, as in `URL.hostname`. */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The host of a URL as it is dialled: without the brackets that `URL.hostname` puts around an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The port that an http or https URL leads to: its own, or that of its scheme. */
export function dialledPort({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** A host and its port in one text, as in a URL. @param host without brackets. */
export function hostAndPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Top-level labels that no public host uses. */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set(
  'local localhost internal intranet private home lan corp domain alt onion arpa invalid test example'.split(' '),
);

/**
 * Why a host is not a public DNS name, by its text alone; what it resolves to is checked when it is dialled.
 *
 * @param host in lower case, without brackets.
 * @returns the end of a message; undefined for a public name.
 */
export function privateHostProblem(host: string): string | undefined {
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (host.includes(':') || /^\d+$/.test(last)) return 'must name a host, not an address';
  if (labels.length < 2) return 'must be a full host name, not a single label';
  if (!labels.every((label) => LABEL.test(label))) return 'must have a valid host name';
  return PRIVATE_SUFFIXES.has(last) ? `must be a public host; ".${last}" is not` : undefined;
}
