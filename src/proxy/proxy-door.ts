import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CallerGuard } from '../client-auth/caller.guard.js';
import type { Caller, CallerRequest } from '../client-auth/caller.js';
import { Refusals } from '../common/errors/refusals.js';
import { refuseRepeatedHeaders } from '../common/http/repeated-headers.rules.js';
import type { RequestTimings } from '../common/http/request-timings.js';
import { Forwarding } from './forwarding.service.js';
import { findProxyPath, type ProxyPath } from './proxy-path.rules.js';

/** A request that no framework has seen. */
class DoorRequest implements CallerRequest {
  timings: RequestTimings | undefined;
  refusalLogged = false;
  caller: Caller | undefined;

  constructor(readonly raw: IncomingMessage) {}

  get method(): string {
    return this.raw.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }
}

/**
 * The proxy's own door: takes calls of the proxy routes straight off the HTTP server, through the guard that the route in
 * `ProxyController` declares. The framework's routing, hooks and promises would
 * cost a fifth of what a call may cost in all (ADR 0010).
 */
@Injectable()
export class ProxyDoor {
  constructor(
    private readonly guard: CallerGuard,
    private readonly forwarding: Forwarding,
    private readonly refusals: Refusals,
  ) {}

  /** @returns false for a request of another route, which is then the framework's. */
  takes(message: IncomingMessage, response: ServerResponse): boolean {
    const path = findProxyPath(message.url ?? '');
    if (path === undefined) return false;
    const request = new DoorRequest(message);
    this.serve(path, request, response).catch((error: unknown) => this.refusals.answerThrown(request, response, error));
    return true;
  }

  private async serve(path: ProxyPath, request: DoorRequest, response: ServerResponse): Promise<void> {
    refuseRepeatedHeaders(request.raw.rawHeaders);
    const caller = await this.guard.prove(request, path);
    await this.forwarding.forward(caller, path, request, response);
  }
}
