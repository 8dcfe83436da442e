import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { CallerGuard } from '../client-auth/callers/caller.guard.js';
import type { Caller, CallerRequest } from '../client-auth/callers/caller.js';
import { Refusals } from '../common/errors/error-answers.js';
import type { RequestTimings } from '../common/http/gateway-request.js';
import { requireOneMeaning } from '../common/http/request-head.rules.js';
import { isModelList } from '../upstreams/api-style.rules.js';
import { BODY_CODINGS } from './content-codings.js';
import { EndpointCalls } from './endpoints/endpoint-calls.service.js';
import { Forwarding } from './forwarding.service.js';
import { LoopMark } from './loop/loop-mark.service.js';
import { ModelLists } from './models/model-lists.service.js';
import { ProxiedCalls } from './proxied-calls.service.js';
import {
  type EndpointPath,
  findEndpointPath,
  findProxyPath,
  isFrameworkClientPath,
  type ProxyPath,
} from './proxy-path.rules.js';
import { resumedResponseOf } from './streams/response-events.rules.js';
import { ResponseStreams } from './streams/response-streams.service.js';
import { TurnBatch } from './turn-batch.js';

const RESPONSES_PATH = 'v1/responses';

/** A raw request that bypasses the framework. */
class RawRequest implements CallerRequest {
  timings: RequestTimings | undefined;
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
 * Handles provider calls of the proxy routes and of named endpoints directly on the HTTP server, with the guard that
 * `ProxyController` and `EndpointsController` declare. The framework's routing, hooks and promises would take a fifth
 * of the cost budget of a call (ADR 0002).
 */
@Injectable()
export class ProxyEntry {
  constructor(
    private readonly guard: CallerGuard,
    private readonly forwarding: Forwarding,
    private readonly proxied: ProxiedCalls,
    private readonly endpoints: EndpointCalls,
    private readonly models: ModelLists,
    private readonly responses: ResponseStreams,
    private readonly refusals: Refusals,
    private readonly turn: TurnBatch,
    private readonly loop: LoopMark,
  ) {}

  /**
   * @returns false for a request of another route, which the framework handles. A request that this deployment sent
   * itself is refused on every route.
   */
  takes(message: IncomingMessage, response: ServerResponse): boolean {
    const looped = this.loop.refusalOf(message);
    if (looped !== undefined) {
      this.refusals.answer(new RawRequest(message), response, looped);
      return true;
    }
    const url = message.url ?? '';
    const path = findProxyPath(url);
    if (path !== undefined) {
      if (isFrameworkClientPath(path) && message.method === 'POST') return false;
      this.answer(message, response, (request) => this.serveProxy(path, request, response));
      return true;
    }
    const endpoint = message.method === 'POST' ? findEndpointPath(url) : undefined;
    if (endpoint === undefined) return false;
    this.answer(message, response, (request) => this.serveEndpoint(endpoint, request, response));
    return true;
  }

  private answer(
    message: IncomingMessage,
    response: ServerResponse,
    serve: (request: RawRequest) => Promise<void>,
  ): void {
    const request = new RawRequest(message);
    this.turn.add('calls', () => {
      serve(request).catch((error: unknown) => this.refusals.answerThrown(request, response, error));
    });
  }

  private async serveProxy(path: ProxyPath, request: RawRequest, response: ServerResponse): Promise<void> {
    requireOneMeaning(request.raw, BODY_CODINGS);
    const caller = await this.guard.prove(request, path, response);
    if (request.method === 'GET' && isModelList(path.path)) return this.models.answer(caller, path, request, response);
    if (request.method === 'GET' && (await this.answersKept(caller, path, request, response))) return;
    await this.forwarding.forward(this.proxied, { caller, address: path, request }, response);
  }

  /** Reads on in a response whose answer is kept, where the application may make responses there. */
  private async answersKept(
    caller: Caller,
    path: ProxyPath,
    request: RawRequest,
    response: ServerResponse,
  ): Promise<boolean> {
    const resumed = resumedResponseOf(path.path, path.query);
    if (resumed === undefined || !caller.app.keepsStreams) return false;
    await this.proxied.plan(caller, { ...path, path: RESPONSES_PATH, query: '' }, 'POST');
    await this.responses.answer(caller, resumed, request, response);
    return true;
  }

  private async serveEndpoint(path: EndpointPath, request: RawRequest, response: ServerResponse): Promise<void> {
    requireOneMeaning(request.raw, BODY_CODINGS);
    const caller = await this.guard.prove(request, path, response);
    await this.forwarding.forward(this.endpoints, { caller, address: path.slug, request }, response);
  }
}
