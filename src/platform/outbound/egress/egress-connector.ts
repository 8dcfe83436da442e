import { type RequestOptions, request as requestPlainly } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type buildConnector, errors } from 'undici';
import { systemErrorCode } from '../../../common/errors/system-error-code.js';
import { bareHost, dialledPort, hostAndPort } from '../url-host.rules.js';
import { type EgressProxy, type EgressSettings, proxyFor } from './egress-proxy.rules.js';

const KEEP_ALIVE_DELAY_MS = 60_000;

/** The operator's proxy provided no connection. The message names no address and no credentials. */
export class EgressProxyError extends Error {
  constructor(
    readonly code: 'ERR_EGRESS_PROXY_UNREACHABLE' | 'ERR_EGRESS_PROXY_TIMEOUT' | `ERR_EGRESS_PROXY_${number}`,
    message: string,
  ) {
    super(`the egress proxy ${message}`);
    this.name = 'EgressProxyError';
  }
}

/**
 * A connector that dials as `dial` does, but through the operator's proxy where the settings say so: https and plain
 * http alike through a tunnel (CONNECT, RFC 9110, 9.3.6), in which `dial` starts TLS.
 *
 * @param timeoutMs for the proxy, the tunnel and TLS together.
 */
export function egressConnector(
  dial: buildConnector.connector,
  egress: EgressSettings | undefined,
  timeoutMs: number,
): buildConnector.connector {
  if (egress === undefined || (egress.HTTPS_PROXY === undefined && egress.HTTP_PROXY === undefined)) return dial;
  return (address, callback) => {
    const proxy = proxyFor(egress, address);
    if (proxy === undefined) dial(address, callback);
    else dialThrough(proxy, { dial, address, timeoutMs }, callback);
  };
}

interface TunnelledDial {
  readonly dial: buildConnector.connector;
  readonly address: buildConnector.Options;
  readonly timeoutMs: number;
}

function dialThrough(
  proxy: EgressProxy,
  { dial, address, timeoutMs }: TunnelledDial,
  callback: buildConnector.Callback,
): void {
  const { protocol, hostname } = address;
  const request = connectRequest(proxy, hostAndPort(bareHost(hostname), dialledPort(address)));
  let tunnel: Socket | undefined;
  let isSettled = false;
  const settle: buildConnector.Callback = (...[error, socket]) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    if (error === null) {
      callback(null, socket);
      return;
    }
    request.destroy();
    tunnel?.destroy();
    callback(error, null);
  };
  const timer = setTimeout(() => settle(lateError(tunnel), null), timeoutMs);
  request.on('error', (error) => settle(unreachable(systemErrorCode(error)), null));
  request.once('connect', ({ statusCode = 0 }, socket: Socket, rest: Buffer) => {
    tunnel = socket;
    socket.on('error', (error) => settle(error, null));
    socket.on('close', () => settle(unreachable('closed'), null));
    if (statusCode < 200 || statusCode > 299) {
      settle(new EgressProxyError(`ERR_EGRESS_PROXY_${statusCode}`, `answered ${statusCode}`), null);
      return;
    }
    if (rest.length > 0) socket.unshift(rest);
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    if (protocol === 'https:') dial({ ...address, httpSocket: socket }, settle);
    else settle(null, socket);
  });
  request.end();
}

function connectRequest({ isTls, host, port, authorization }: EgressProxy, target: string) {
  const options: RequestOptions & { servername: string } = {
    ...{ method: 'CONNECT', host, port, path: target, agent: false },
    // Node would take the name of the target, which is in the Host header.
    servername: isIP(host) === 0 ? host : '',
    headers: {
      host: target,
      connection: 'keep-alive',
      ...(authorization && { 'proxy-authorization': authorization.reveal() }),
    },
  };
  return isTls ? requestOverTls(options) : requestPlainly(options);
}

function unreachable(cause: string | undefined): EgressProxyError {
  return new EgressProxyError('ERR_EGRESS_PROXY_UNREACHABLE', `cannot be reached: ${cause ?? 'unknown'}`);
}

/** @param tunnel after which failures are not the proxy's. */
function lateError(tunnel: Socket | undefined): Error {
  return tunnel === undefined
    ? new EgressProxyError('ERR_EGRESS_PROXY_TIMEOUT', 'did not answer in time')
    : new errors.ConnectTimeoutError('TLS through the egress proxy took too long');
}
