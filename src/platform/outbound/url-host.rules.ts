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
