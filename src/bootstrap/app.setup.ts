import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import fastifyCookie from '@fastify/cookie';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FirstParty } from '../accounts/csrf/csrf-origins.js';
import { GatewayModule } from '../app.module.js';
import { CrossOrigin } from '../client-auth/origins/cross-origin.service.js';
import { GatewayErrorFilter } from '../common/errors/gateway-error.filter.js';
import { RequestShapePipe } from '../common/fields/request-shape.pipe.js';
import { requireDeclaredMembers } from '../common/fields/undeclared-members.js';
import { listRouteAccess } from '../common/http/access.js';
import { answerTunnels, noteAnswer, refuseUnparsed } from '../common/http/client-error.js';
import { noteFraming } from '../common/http/connections/cut-answer.js';
import { lingerWhereUnread } from '../common/http/connections/lingering-close.js';
import { StalledClients } from '../common/http/connections/stalled-clients.js';
import { dropMalformedContentType, maxBodyBytesOf, RawBody } from '../common/http/raw-body.js';
import { readBody } from '../common/http/read-body.js';
import { refuseFragment, requireOneMeaning } from '../common/http/request-head.rules.js';
import { OpenApiDocument } from '../health/openapi.controller.js';
import { Tools } from '../mcp/tools/tools.service.js';
import { requestCounter } from '../platform/metrics/request-counter.js';
import { type PlatformParts, platformModule } from '../platform/platform.module.js';
import { ProxyEntry } from '../proxy/proxy-entry.js';
import { describeApi } from './openapi/openapi.js';
import { requireGuards } from './route-guards.rules.js';

const MAX_HEADER_BYTES = 32 * 1024;
/** Timeouts for receiving the request head and the whole request. */
const HEADERS_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** Exceeds the idle timeout of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** The length of the longest valid user id, so that every user can be blocked. */
const MAX_PARAMETER_CHARACTERS = 1_024;
const SERVER_OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  // `requireOneMeaning` checks the host: Node would refuse without an envelope.
  requireHostHeader: false,
};

export interface GatewayOptions {
  readonly parts: PlatformParts;
  /** The origin in the OpenAPI document. */
  readonly publicUrl: string;
  /** Modules of an extension. */
  readonly imports?: readonly (Type | DynamicModule)[];
}

/** Disables Express-style middleware, which would add an unused hook to every request. */
class LeanFastifyAdapter extends FastifyAdapter {
  override async init(): Promise<void> {}
}

/**
 * Builds the application for `main.ts`, tests and extensions. Not yet listening.
 *
 * @throws Error when a route declares no access, or access that its guards do not enforce.
 */
export async function createGateway({
  parts,
  publicUrl,
  imports = [],
}: GatewayOptions): Promise<NestFastifyApplication> {
  let entry: ProxyEntry | undefined;
  let crossOrigin: CrossOrigin | undefined;
  const count = requestCounter(parts.metrics);
  const stalled = new StalledClients(parts.environment.CLIENT_STALL_TIMEOUT_SECONDS, parts.log);
  const adapter = new LeanFastifyAdapter({
    logger: false,
    forceCloseConnections: true,
    return503OnClosing: true,
    routerOptions: { maxParamLength: MAX_PARAMETER_CHARACTERS },
    serverFactory: (framework: RequestListener) => {
      const route: RequestListener = (message, response) => {
        if (!entry?.takes(message, response)) framework(message, response);
      };
      const serve: RequestListener = (message, response) => {
        count(response);
        noteFraming(message, response);
        stalled.watch(response);
        lingerWhereUnread(response);
        noteAnswer(response);
        if (message.headers.origin === undefined || crossOrigin === undefined) route(message, response);
        else crossOrigin.prepare(message, response, route);
      };
      return stalled.endIn(
        createServer(SERVER_OPTIONS, serve).on('checkExpectation', serve).on('connect', answerTunnels(serve)),
      );
    },
    clientErrorHandler: (error: Error, socket: Socket) => refuseUnparsed(error, socket, parts.log),
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      // No hook runs for these requests.
      firstParty.setSecurityHeaders(reply);
      filter.refuse(request, reply, error);
    },
  });
  const root = {
    module: GatewayModule,
    imports: [platformModule(parts), ...imports],
  };
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  const filter = app.get(GatewayErrorFilter);
  const firstParty = app.get(FirstParty);
  entry = app.get(ProxyEntry);
  crossOrigin = app.get(CrossOrigin);
  app.useGlobalFilters(filter);
  app.useGlobalPipes(new RequestShapePipe());
  await app.register(fastifyCookie);
  prepareFastify(adapter.getInstance(), firstParty);
  requireGuards(listRouteAccess(app));
  requireDeclaredMembers(app);
  app.get(OpenApiDocument).describedBy(() => describeApi(app, publicUrl));
  app.get(Tools).describedBy(app);
  return app;
}

function prepareFastify(fastify: FastifyInstance, firstParty: FirstParty): void {
  fastify.decorateRequest('timings', undefined);
  // No route uses QUERY; with a body, the framework would ask for a content type before reporting that.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (request, _payload, done) => {
    const contentType = request.headers['content-type'] ?? '';
    const { bodyTooLargeCode } = request.routeOptions.config;
    readBody(request.raw, maxBodyBytesOf(request), bodyTooLargeCode).then(
      (bytes) => done(null, new RawBody(bytes, contentType)),
      done,
    );
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    try {
      firstParty.setSecurityHeaders(reply);
      requireOneMeaning(request.raw);
      refuseFragment(request.url);
      dropMalformedContentType(request.raw.headers);
      firstParty.validate(request);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error('header check failed'));
    }
  });
}
