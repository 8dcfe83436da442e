import { type IpAddress, parseIp, unmapped } from './address.rules.js';
import { hostAndPort } from './url-host.rules.js';

/** Where this process listens. */
export interface BoundListener {
  /** An IP address; an unspecified one stands for every address of this machine. */
  readonly address: string;
  readonly port: number;
}

/** The addresses that a system dials in place of an unspecified one. */
const LOOPBACKS: Readonly<Record<'ipv4' | 'ipv6', string>> = { ipv4: '127.0.0.1', ipv6: '::1' };
const LOCAL_NAME = /^(?:.+\.)?localhost$/;

/**
 * Whether a connection to an address and port ends at the listener.
 *
 * @param text an IP address, mapped ones included, or a name: only those of the loopback are known.
 * @param machineAddresses the addresses of the interfaces of this machine; read only if the answer depends on them.
 */
export function reachesListener(
  bound: BoundListener,
  text: string,
  port: number,
  machineAddresses: () => readonly string[],
): boolean {
  if (port !== bound.port) return false;
  if (LOCAL_NAME.test(text))
    return Object.values(LOOPBACKS).some((ip) => isAnswered(bound.address, ip, machineAddresses));
  return isAnswered(bound.address, text, machineAddresses);
}

/**
 * The addresses at which a listener is reached, each with its port. Those of the loopback reach it from its machine
 * alone; link-local ones mean another machine on each network, and are left out.
 */
export function reachedAt({ address, port }: BoundListener, machineAddresses: () => readonly string[]): string[] {
  const listener = plain(address);
  if (listener === undefined) return [];
  if (listener.range() !== 'unspecified') return [hostAndPort(listener.toString(), port)];
  return machineAddresses().flatMap((text) => {
    const own = plain(text);
    if (own === undefined || own.range() === 'linkLocal') return [];
    return listener.kind() === 'ipv4' && own.kind() !== 'ipv4' ? [] : [hostAndPort(own.toString(), port)];
  });
}

/** Whether a host, in lower case, leads to the machine itself whatever its network says. */
export function isLoopback(host: string): boolean {
  const address = plain(host);
  return address === undefined ? LOCAL_NAME.test(host) : reached(address)?.range() === 'loopback';
}

function isAnswered(boundAddress: string, ip: string, machineAddresses: () => readonly string[]): boolean {
  const [listener, dialled] = [plain(boundAddress), reached(plain(ip))];
  if (listener === undefined || dialled === undefined) return false;
  if (listener.range() !== 'unspecified') return dialled.toString() === listener.toString();
  if (listener.kind() === 'ipv4' && dialled.kind() !== 'ipv4') return false;
  if (dialled.range() === 'loopback') return true;
  return machineAddresses().some((address) => plain(address)?.toString() === dialled.toString());
}

function plain(ip: string): IpAddress | undefined {
  const address = parseIp(ip);
  return address && unmapped(address);
}

function reached(address: IpAddress | undefined): IpAddress | undefined {
  return address?.range() === 'unspecified' ? parseIp(LOOPBACKS[address.kind()]) : address;
}
