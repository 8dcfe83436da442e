import { type ArgumentMetadata, createParamDecorator, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { shownName } from '../errors/display-text.rules.js';
import { invalidRequest } from '../errors/gateway-error.js';
import { RawBody } from '../http/raw-body.js';
import { parseStrictJson } from '../http/strict-json.rules.js';
import { requireStorableText } from './config-values.js';
import { numericMembers } from './fields.js';
import { readShape } from './read-shape.js';

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Converts input to the class of the handler's parameter, or refuses it: `400` with `<dot.path>: <what is wrong>` for
 * the first problem. Runs after the guards, so that only an authenticated client learns the schema.
 *
 * It stands for Nest's `ValidationPipe`, which drops members named like those that every object inherits instead of
 * refusing them: "a member named constructor → not known" in the spec, and
 * docs/adr/0008-validation-of-requests-and-configurations.md.
 */
@Injectable()
export class RequestShapePipe implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.type === 'body') return this.body(value, metadata.metatype);
    if (metadata.type === 'query') return this.query(value, metadata.metatype);
    if (metadata.type === 'param') return this.param(value, metadata.data);
    return value;
  }

  private body(value: unknown, type: Type | undefined): unknown {
    if (!(value instanceof RawBody) || value.bytes.length === 0) throw invalidRequest('body', 'must be a JSON object');
    if (!JSON_MEDIA_TYPE.test(value.contentType)) {
      throw invalidRequest('Content-Type', 'must be application/json', 'content_type_unsupported');
    }
    const parsed = parseStrictJson(value.bytes);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw invalidRequest('body', 'must be a JSON object');
    }
    return type && type !== Object ? readShape(type, parsed) : parsed;
  }

  private query(value: unknown, type: Type | undefined): unknown {
    if (!type || type === Object || typeof value !== 'object' || value === null) return value;
    const numbers = numericMembers(type);
    const members = Object.entries(value).map(([name, sent]): [string, unknown] => {
      if (Array.isArray(sent)) throw invalidRequest(shownName(name), 'is given twice');
      if (typeof sent === 'string') requireStorableText(sent, shownName(name));
      return [name, numbers.has(name) && /^\d{1,16}$/.test(String(sent)) ? Number(sent) : sent];
    });
    return readShape(type, Object.fromEntries(members));
  }

  private param(value: unknown, name: string | undefined): unknown {
    if (typeof value === 'string') requireStorableText(value, name ?? 'path');
    return value;
  }
}

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
