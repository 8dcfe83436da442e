import { createParamDecorator, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/gateway-error.js';
import { shownName } from '../errors/shown-text.rules.js';
import { RawBody } from '../http/raw-body.js';
import { readShape } from './read-shape.js';
import { RequestShapePipe } from './request-shape.pipe.js';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

const FORM_MEDIA_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const jsonBodies = new RequestShapePipe();

/**
 * A handler parameter that replaces `@Body()`: an instance of a request class, read from JSON or from a form.
 *
 * @throws invalid_request as the body pipe does, and for a form member that is given twice.
 */
export const FormOrJson = createParamDecorator((type: Type<object>, context) =>
  readFormOrJson(type, context.switchToHttp().getRequest<FastifyRequest>().body),
);

/** @param body the output of the content-type parser. */
export function readFormOrJson<T extends object>(type: Type<T>, body: unknown): unknown {
  if (!(body instanceof RawBody) || !FORM_MEDIA_TYPE.test(body.contentType)) {
    return jsonBodies.transform(body, { type: 'body', metatype: type });
  }
  const members = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body.bytes.toString('utf8'))) {
    if (members.has(name)) throw invalidRequest(shownName(name), 'is given twice');
    members.set(name, value);
  }
  return readShape(type, Object.fromEntries(members));
}
