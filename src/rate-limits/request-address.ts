import type { FastifyRequest } from 'fastify';
import type { AddressRange } from '../platform/outbound/address.rules.js';
import { clientAddress } from './client-address.rules.js';

/**
 * The address that a request is counted under.
 *
 * @param proxies the setting `TRUSTED_PROXIES`.
 * @returns the result of `clientAddress`.
 */
export function addressOf({ headers, raw }: FastifyRequest, proxies: readonly AddressRange[]): string {
  const forwardedFor = headers['x-forwarded-for'];
  return clientAddress(
    raw.socket.remoteAddress,
    Array.isArray(forwardedFor) ? forwardedFor.join() : forwardedFor,
    proxies,
  );
}
