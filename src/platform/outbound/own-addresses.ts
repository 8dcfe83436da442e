import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type BoundListener, isLoopback, reachedAt, reachesListener } from './own-address.rules.js';
import { bareHost, dialledPort } from './url-host.rules.js';

/** An instance of the deployment, and where it is reached. */
interface OtherInstance {
  readonly isOnThisMachine: boolean;
  /** As {@link OwnAddresses.announced} of its process. */
  readonly listensAt: readonly string[];
}

/**
 * The addresses at which this deployment is known to answer: `PUBLIC_URL`, the listener of this process, and those that
 * the other instances announce. Others, such as a load balancer under another name, are recognised by the mark of a
 * call that comes back.
 */
export class OwnAddresses {
  #listener: BoundListener | undefined;
  #others: readonly BoundListener[] = [];
  readonly #publicHost: string | undefined;

  /** @param publicUrl the setting `PUBLIC_URL`. */
  constructor(publicUrl: string | undefined) {
    this.#publicHost = publicUrl === undefined ? undefined : hostOf(new URL(publicUrl));
  }

  /** @param address of the listening socket; anything but an IP address and a port is ignored. */
  listensAt(address: AddressInfo | string | null): void {
    if (typeof address === 'object' && address !== null) this.#listener = address;
  }

  /** Where this process is reached, as `host:port`, for the other instances. */
  get announced(): readonly string[] {
    return this.#listener === undefined ? [] : reachedAt(this.#listener, machineAddresses);
  }

  /** @param instances the others, with what they announce. */
  othersListenAt(instances: readonly OtherInstance[]): void {
    this.#others = instances.flatMap(({ isOnThisMachine, listensAt }) => {
      const bound = listensAt.flatMap(listenerAt);
      return isOnThisMachine ? bound : bound.filter(({ address }) => !isLoopback(address));
    });
  }

  /** Whether a connection to this IP address and port ends at an instance of this deployment. */
  isListener(ip: string, port: number): boolean {
    const listeners = this.#listener === undefined ? this.#others : [this.#listener, ...this.#others];
    return listeners.some((listener) => reachesListener(listener, ip, port, machineAddresses));
  }

  /** Whether a URL has the host and port of `PUBLIC_URL`. */
  isPublic(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): boolean {
    return this.#publicHost === hostOf(url);
  }

  /** Whether a URL leads to this deployment by its text alone; other names are checked when they are dialled. */
  isNamedIn(url: URL): boolean {
    return this.isPublic(url) || this.isListener(bareHost(url.hostname), dialledPort(url));
  }
}

function listenerAt(announced: string): BoundListener[] {
  const url = URL.parse(`http://${announced}`);
  return url === null ? [] : [{ address: bareHost(url.hostname), port: dialledPort(url) }];
}

/** The host of a URL with its port, the default one included. */
function hostOf(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): string {
  return `${url.hostname.replace(/\.$/, '').toLowerCase()}:${dialledPort(url)}`;
}

function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}
