import type { IncomingHttpHeaders } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { RefusalCode } from '../errors/error-catalogue.js';
import { Fails } from './openapi.decorators.js';

/** A media type with any parameters. Source: RFC 9110 8.3.1. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/** A received management body: read within its limit, parsed only after authentication. */
export class RawBody {
  constructor(
    readonly bytes: Buffer,
    readonly contentType: string,
  ) {}
}

/**
 * Removes a malformed content type from a request. The framework would refuse it before routing and authentication; a
 * route that reads a body refuses one without a content type.
 *
 * @param headers changed in place.
 * Source: docs/reference/management-api.md#requests-and-bodies, docs/reference/management-api.md#order-of-checks.
 */
export function dropMalformedContentType(headers: IncomingHttpHeaders): void {
  const sent = headers['content-type'];
  if (sent !== undefined && !MEDIA_TYPE.test(sent)) delete headers['content-type'];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link BodyLimit}. */
    maxBodyBytes?: number;
    /** The code that refuses a larger body with 413; `payload_too_large` when absent. */
    bodyTooLargeCode?: RefusalCode;
  }
}

/** Management bodies are configuration, not content. */
const MAX_MANAGEMENT_BODY_BYTES = 1024 * 1024;

/** Sets a lower body limit, for a route that needs no credential. */
export function BodyLimit(maxBodyBytes: number): MethodDecorator {
  return applyDecorators(RouteConfig({ maxBodyBytes }), Fails('payload_too_large'));
}

/** The body limit of the request's route, in bytes. */
export function maxBodyBytesOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.maxBodyBytes ?? MAX_MANAGEMENT_BODY_BYTES;
}
