import { Failure } from '../program/failure.js';

const PROTOCOL_VERSION = 1;

/**
 * Refuses the capabilities of a gateway that this client cannot work with.
 *
 * @param body of the response; without a version it is left to the schema.
 * @throws Failure the server speaks a protocol that this client does not know.
 */
export function requireProtocol(body: unknown): void {
  const { protocolVersion } = Object(body);
  if (typeof protocolVersion !== 'number' || protocolVersion === PROTOCOL_VERSION) return;
  const isNewer = protocolVersion > PROTOCOL_VERSION;
  const nextAction = isNewer ? 'Update gw to the version of the gateway.' : 'Use the gw of this gateway’s version.';
  const message = `The gateway uses version ${protocolVersion} of the protocol; this gw uses version ${PROTOCOL_VERSION}.`;
  throw Failure.state('unsupported_protocol', message, { nextAction });
}
