import { Secret } from '../../../common/log/secret.js';
import { SettingProblem } from '../../config/setting.js';
import { parseIp } from '../address.rules.js';
import { isLoopback } from '../own-address.rules.js';
import { covers, coversPort, type HostEntry, parseHostEntry } from '../trusted-hosts.rules.js';
import { bareHost, dialledPort } from '../url-host.rules.js';

/** The operator's proxy for outbound calls. */
export interface EgressProxy {
  /** Whether the proxy itself is reached over TLS. */
  readonly isTls: boolean;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: Secret | undefined;
}

/** Hosts that are dialled directly; `*` stands for all of them. */
export type NoProxy = '*' | readonly HostEntry[];

/** The settings that decide which way a call takes. */
export interface EgressSettings {
  readonly HTTPS_PROXY: EgressProxy | undefined;
  readonly HTTP_PROXY: EgressProxy | undefined;
  readonly NO_PROXY: NoProxy;
}

/**
 * The proxy through which a URL is reached; `undefined` if it is dialled directly, as the loopback always is. The
 * scheme of the URL chooses the variable. Source: docs/reference/security.md#egress-proxy.
 */
export function proxyFor(
  settings: EgressSettings,
  target: Pick<URL, 'protocol' | 'hostname' | 'port'>,
): EgressProxy | undefined {
  const proxy = target.protocol === 'https:' ? settings.HTTPS_PROXY : settings.HTTP_PROXY;
  if (proxy === undefined || settings.NO_PROXY === '*') return undefined;
  const host = bareHost(target.hostname).replace(/\.$/, '').toLowerCase();
  const port = dialledPort(target);
  const isDirect = isLoopback(host) || settings.NO_PROXY.some((entry) => isOf(entry, host, port));
  return isDirect ? undefined : proxy;
}

function isOf(entry: HostEntry, host: string, port: number): boolean {
  if (!coversPort(entry.port, port)) return false;
  return 'name' in entry ? host === entry.name || host.endsWith(`.${entry.name}`) : covers(entry.range, parseIp(host));
}

/** @throws SettingProblem */
export function parseEgressProxy(text: string): EgressProxy {
  const url = URL.parse(text.trim());
  const authorization = url === null ? undefined : authorizationOf(url);
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.pathname}${url.search}${url.hash}` !== '/') {
    throw new SettingProblem('must be the address of a proxy such as http://proxy.example.com:3128');
  }
  return { isTls: url.protocol === 'https:', host: bareHost(url.hostname), port: dialledPort(url), authorization };
}

/**
 * Parses names, addresses and networks, separated by commas or white space, each but networks with or without a port. A
 * name covers its subdomains, with or without a leading dot or `*.`, as in curl.
 *
 * @throws SettingProblem
 */
export function parseNoProxy(text: string): NoProxy {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.includes('*')) return '*';
  return entries.map((entry) => {
    const parsed = parseHostEntry(entry.replace(/^\*?\./, '').replace(/\.$/, ''));
    if (parsed !== undefined) return parsed;
    throw new SettingProblem('must be * or hosts, addresses or CIDR ranges separated by commas');
  });
}

function authorizationOf({ username, password }: URL): Secret | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return new Secret(`Basic ${Buffer.from(credentials).toString('base64')}`);
  } catch {
    throw new SettingProblem('must be the address of a proxy with user and password percent-encoded');
  }
}
