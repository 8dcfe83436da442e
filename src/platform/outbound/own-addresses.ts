import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type BoundListener, reachesListener } from './own-address.rules.js';
import { bareHost, dialledPort } from './url-host.rules.js';

/**
 * The addresses at which this deployment is known to answer: `PUBLIC_URL`, and the listener of this process. Others, such as
 * those of further instances or of a load balancer under another name, are recognised by the mark of a call that comes back.
 */
export class OwnAddresses {
  #listener: BoundListener | undefined;
  readonly #publicHost: string | undefined;

  /** @param publicUrl the setting `PUBLIC_URL`. */
  constructor(publicUrl: string | undefined) {
    this.#publicHost = publicUrl === undefined ? undefined : hostOf(new URL(publicUrl));
  }

  /** @param address of the listening socket; anything but an IP address and a port is ignored. */
  listensAt(address: AddressInfo | string | null): void {
    if (typeof address === 'object' && address !== null) this.#listener = address;
  }

  /** Whether a connection to this IP address and port ends at this process. */
  isListener(ip: string, port: number): boolean {
    return this.#listener !== undefined && reachesListener(this.#listener, ip, port, machineAddresses);
  }

  /** Whether a URL has the host and port of `PUBLIC_URL`. */
  isPublic(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): boolean {
    return this.#publicHost === hostOf(url);
  }

  /** Whether a URL leads to this deployment by its text alone; other names are judged when they are dialled. */
  isNamedIn(url: URL): boolean {
    return this.isPublic(url) || this.isListener(bareHost(url.hostname), dialledPort(url));
  }
}

/** The host of a URL with its port, the default one included. */
function hostOf(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): string {
  return `${url.hostname.replace(/\.$/, '').toLowerCase()}:${dialledPort(url)}`;
}

function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}
