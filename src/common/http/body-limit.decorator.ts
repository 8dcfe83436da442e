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

/** Sets a lower body limit, for a route that needs no credential. */
export function BodyLimit(maxBodyBytes: number): MethodDecorator {
  return applyDecorators(RouteConfig({ maxBodyBytes }), Fails('payload_too_large'));
}

/** The body limit of the request's route, in bytes. */
export function maxBodyBytesOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.maxBodyBytes ?? MAX_MANAGEMENT_BODY_BYTES;
}
