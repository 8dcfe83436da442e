import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { Fails } from './openapi.decorators.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link BodyLimit}. */
    maxBodyBytes?: number;
  }
}

/** Management bodies are configuration, not content. */
const MAX_MANAGEMENT_BODY_BYTES = 1024 * 1024;

/** A route that reads smaller bodies than others, because anybody may send it some. */
export function BodyLimit(maxBodyBytes: number): MethodDecorator {
  return applyDecorators(RouteConfig({ maxBodyBytes }), Fails('payload_too_large'));
}

/** How many bytes of body the route of a request reads. */
export function maxBodyBytesOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.maxBodyBytes ?? MAX_MANAGEMENT_BODY_BYTES;
}
