import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  NotFoundException,
  PayloadTooLargeException,
} from '@nestjs/common';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { toGatewayError } from './framework-error.rules.js';
import { GatewayError } from './gateway-error.js';

const never = () => false;
function answer(error: unknown, reply: FastifyReply): void {
  const { status, code, message } = toGatewayError(error, never);
  void reply.code(status).send({ code, message });
}

const SECRET = 'connection postgres://user:private@host failed';

describe('errors that were thrown', () => {
  it('gateway error → itself', () => {
    const error = new GatewayError('app_not_found');
    expect(toGatewayError(error, () => true)).toBe(error);
  });

  it.each([
    [new NotFoundException('Cannot GET /secret'), 404, 'invalid_request', 'Route not found', 'route_not_found'],
    [new ForbiddenException(SECRET), 403, 'forbidden', 'You may not do this.', 'guard_refused'],
    [new PayloadTooLargeException(), 413, 'payload_too_large', 'The request body is too large.', undefined],
    [new BadRequestException(SECRET), 400, 'invalid_request', 'The request is not valid.', undefined],
    [new HttpException(SECRET, 422), 400, 'invalid_request', 'The request is not valid.', undefined],
    [new HttpException(SECRET, 502), 500, 'internal_error', 'An internal error occurred.', undefined],
  ])('framework: %s → %i %s', (thrown, status, code, message, reason) => {
    expect(toGatewayError(thrown, never)).toMatchObject({ status, code, message, reason });
  });

  it.each([[new Error(SECRET)], [new TypeError(SECRET)], [SECRET], [undefined], [null], [{ code: 5 }]])(
    'unknown: %p → 500 without its message; the cause is kept for the log',
    (thrown) => {
      const error = toGatewayError(thrown, never);
      expect(error).toMatchObject({ status: 500, code: 'internal_error', cause: thrown });
      expect(error.message).toBe('An internal error occurred.');
    },
  );

  it('a dependency is unavailable → 503 with Retry-After, without its detail', () => {
    const thrown = new Error(SECRET);
    expect(toGatewayError(thrown, (error) => error === thrown)).toMatchObject({
      status: 503,
      code: 'service_unavailable',
      reason: 'database_unavailable',
      retryAfterSeconds: 2,
      message: 'The service is unavailable; try again shortly.',
      cause: thrown,
    });
  });
});

describe('requests that the framework refuses', () => {
  const fastify = Fastify({
    bodyLimit: 10,
    routerOptions: { maxParamLength: 20 },
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => answer(error, reply),
  });

  beforeAll(() => {
    fastify.setErrorHandler((error, _request: FastifyRequest, reply: FastifyReply) => answer(error, reply));
    fastify.all('/a/:id', () => 'ok');
  });

  afterAll(() => fastify.close());

  it.each([
    ['a broken escape in the URL', { url: '/a/%zz' }, 400, 'The URL has a broken percent escape.'],
    ['a part of the URL that is too long', { url: `/a/${'x'.repeat(21)}` }, 400, 'A part of the URL is too long.'],
    ['no JSON in a JSON body', { headers: { 'content-type': 'application/json' } }, 400, 'body: must not be empty.'],
    [
      'a media type that is none',
      { headers: { 'content-type': '/' }, payload: 'x' },
      400,
      'Content-Type: not a media type.',
    ],
    [
      'a length that is not the body’s',
      { headers: { 'content-type': 'text/plain', 'content-length': '3' }, payload: 'four' },
      400,
      'Content-Length does not match the body.',
    ],
    ['a body that is too large', { payload: { text: 'x'.repeat(10) } }, 413, 'The request body is too large.'],
  ])('%s → its own message, never a 500', async (_name, request, status, message) => {
    const response = await fastify.inject({ method: 'POST', url: '/a/1', ...request });
    const code = status === 413 ? 'payload_too_large' : 'invalid_request';
    expect({ status: response.statusCode, ...response.json() }).toEqual({ status, code, message });
  });
});
