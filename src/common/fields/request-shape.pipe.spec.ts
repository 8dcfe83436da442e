import { describe, expect, it } from '@jest/globals';
import type { ArgumentMetadata } from '@nestjs/common';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../errors/gateway-error.js';
import { RawBody } from '../http/raw-body.js';
import { IgnoresOthers, Int, JsonObject, Text, Verbatim } from './fields.js';
import { readShape } from './read-shape.js';
import { FORM_TYPE, RequestShapePipe, readFormOrJson } from './request-shape.pipe.js';

class ThingRequest {
  @Text({ max: 10 })
  name: string;

  @Verbatim({ max: 10, optional: true })
  key?: string;

  @JsonObject({ optional: true })
  config?: object;

  @Int({ min: 1, missingCode: 'app_revision_required' })
  revision: number;
}

class SpecialThingRequest extends ThingRequest {
  @Text({ max: 10 })
  special: string;
}

@IgnoresOthers()
class OpenThingRequest {
  @Text({ max: 10 })
  name: string;
}

class PageQuery {
  @Int({ min: 1, max: 200, optional: true })
  limit?: number;

  @Int({ min: 1, optional: true })
  before_id?: number;

  @Text({ max: 10, optional: true })
  month?: string;
}

const pipe = new RequestShapePipe();
const JSON_TYPE = 'application/json';

function body(text: string | Buffer, contentType = JSON_TYPE): unknown {
  return pipe.transform(new RawBody(Buffer.from(text), contentType), { type: 'body', metatype: ThingRequest });
}

function query(sent: Record<string, unknown>): unknown {
  return pipe.transform(sent, { type: 'query', metatype: PageQuery });
}

function refusal(call: () => unknown): GatewayError {
  try {
    call();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('a refusal was expected');
}

function attempt(call: () => unknown): void {
  try {
    call();
  } catch {
    // The test measures only the time.
  }
}

const messageOf = (call: () => unknown) => refusal(call).message;
const text = (members: object) => JSON.stringify({ name: 'a', revision: 1, ...members });

describe('request bodies', () => {
  it('valid body → an instance of the class; names trimmed, credentials not', () => {
    const request = body(text({ name: ' a b ', key: ' k ', config: { ' x ': ' y ' } }));
    expect(request).toBeInstanceOf(ThingRequest);
    expect({ ...(request as ThingRequest) }).toEqual({
      name: 'a b',
      key: ' k ',
      config: { ' x ': ' y ' },
      revision: 1,
    });
  });

  it.each([
    [text({ name: '   ' }), 'name: must be text of 1 to 10 characters'],
    [text({ name: '', config: 1 }), 'name: must be text of 1 to 10 characters'],
    [text({ name: 'x'.repeat(11) }), 'name: must be text of 1 to 10 characters'],
    [text({ config: [] }), 'config: must be an object'],
    [text({ other: 1, name: '' }), 'other: is not a known member'],
    ['{"revision":1}', 'name: is required'],
    ['{"name":"a","name":"b","revision":1}', 'name: is given twice'],
    ['[]', 'body: must be a JSON object'],
    ['null', 'body: must be a JSON object'],
    ['"text"', 'body: must be a JSON object'],
    ['', 'body: must be a JSON object'],
    ['{', 'body: is not valid JSON'],
  ])('%s → 400 "%s", the first problem only', (sent, message) => {
    expect(refusal(() => body(sent))).toMatchObject({ code: 'invalid_request', status: 400, message });
  });

  it('a class that extends another → members of both, each trimmed and required as declared', () => {
    const sent = { name: ' a ', revision: 1, special: ' b ' };
    expect(readShape(SpecialThingRequest, sent)).toEqual({ name: 'a', revision: 1, special: 'b' });
    expect(refusal(() => readShape(SpecialThingRequest, { ...sent, name: '' })).message).toContain('name: ');
    expect(refusal(() => readShape(ThingRequest, sent)).message).toBe('special: is not a known member');
  });

  it('no body at all → 400 at the root', () => {
    expect(messageOf(() => pipe.transform(undefined, { type: 'body', metatype: ThingRequest }))).toBe(
      'body: must be a JSON object',
    );
  });

  it('a missing member with its own error code → that code takes precedence over other problems', () => {
    expect(refusal(() => body('{"name":"","stranger":1}')).code).toBe('app_revision_required');
    expect(refusal(() => body(text({ revision: 'x' }))).code).toBe('invalid_request');
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__', '__defineGetter__', 'isPrototypeOf'])(
    'a member named %s → unknown, and everything else is still validated',
    (name) => {
      for (const value of ['1', '{}', 'null', '{"prototype":{}}']) {
        expect(messageOf(() => body(`{"revision":1,"${name}":${value}}`))).toBe(`${name}: is not a known member`);
        expect(messageOf(() => body(`{"name":"a","revision":1,"${name}":${value}}`))).toBe(
          `${name}: is not a known member`,
        );
      }
    },
  );

  it('an unknown member of any length → its name is truncated in the message', () => {
    const name = 'x'.repeat(1_000);
    expect(messageOf(() => body(text({ [name]: 1 })))).toBe(`"${'x'.repeat(64)}": is not a known member`);
  });

  it('as many unknown members as a body can hold → a fraction of the time to parse them', () => {
    const members = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`m${at}`, 0]));
    const sent = { name: 'a', revision: 1, ...members };
    const json = JSON.stringify(sent);
    const parsingMs = fastestMs(() => JSON.parse(json));
    for (const type of [ThingRequest, OpenThingRequest]) {
      const readingMs = fastestMs(() => attempt(() => readShape(type, sent)));
      expect(readingMs / parsingMs).toBeLessThan(2);
    }
    expect({ ...readShape(OpenThingRequest, sent) }).toEqual({ name: 'a' });
  });

  it('any object → an instance with known members only, or a refusal', () => {
    const name = fc.oneof(
      fc.constantFrom('name', 'key', 'config', 'revision', 'constructor', '__proto__'),
      fc.string(),
    );
    const value = fc.oneof(fc.constantFrom('a', 1, {}), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 5 }), (members) => {
        const sent = `{${members.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join()}}`;
        try {
          const request = body(sent);
          expect(Object.getPrototypeOf(request)).toBe(ThingRequest.prototype);
          expect(request).toMatchObject({ name: expect.any(String), revision: expect.any(Number) });
          expect(['name', 'key', 'config', 'revision']).toEqual(expect.arrayContaining(Object.keys(request as object)));
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
        }
      }),
      { numRuns: fuzzRuns(500) },
    );
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/vnd.api+json',
  ])('content type %s → read', (contentType) => {
    expect(body(text({}), contentType)).toBeInstanceOf(ThingRequest);
  });

  it.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'text/json',
    'x, application/json',
  ])('content type "%s" → refused before the body is parsed', (contentType) => {
    expect(refusal(() => body('{', contentType))).toMatchObject({
      code: 'invalid_request',
      message: 'Content-Type: must be application/json',
      reason: 'content_type_unsupported',
    });
  });

  it('a handler that declares no class → the parsed object', () => {
    const sent = new RawBody(Buffer.from('{"a":1}'), JSON_TYPE);
    for (const metatype of [Object, undefined]) {
      expect(pipe.transform(sent, { type: 'body', metatype })).toEqual({ a: 1 });
    }
  });
});

describe('queries', () => {
  it('numeric text → read as a number only if the class says so', () => {
    expect({ ...(query({ limit: '50', month: ' 2026 ' }) as PageQuery) }).toEqual({ limit: 50, month: '2026' });
    expect(query({})).toBeInstanceOf(PageQuery);
  });

  it.each(['', '-1', '0', '201', '1e2', '0x10', ' 5', '5 ', '1.0', '9'.repeat(16), 'NaN', '٣'])(
    'limit "%s" → 400',
    (limit) => expect(messageOf(() => query({ limit }))).toBe('limit: must be a whole number from 1 to 200'),
  );

  it('a number without a maximum → up to the largest number that a body may hold', () => {
    const largest = Number.MAX_SAFE_INTEGER;
    expect(query({ before_id: String(largest) })).toMatchObject({ before_id: largest });
    expect(messageOf(() => query({ before_id: '9007199254740992' }))).toContain('before_id: must be a whole number');
  });

  it.each([
    [{ limit: ['1', '2'] }, 'limit: is given twice'],
    [{ unknown: '1' }, 'unknown: is not a known member'],
    [{ constructor: '1' }, 'constructor: is not a known member'],
    [{ month: 'a\u0000' }, 'month: must not have NUL or broken characters'],
    [{ month: '\ud800' }, 'month: must not have NUL or broken characters'],
  ])('%j → "%s"', (sent, message) => {
    expect(messageOf(() => query(sent))).toBe(message);
  });

  it('a handler that declares no class → the query as sent', () => {
    const sent = { a: 'b' };
    expect(pipe.transform(sent, { type: 'query', metatype: Object })).toBe(sent);
  });
});

describe('path parameters and the rest', () => {
  const param: ArgumentMetadata = { type: 'param', metatype: String, data: 'app' };

  it('text that the database cannot store → 400', () => {
    const problem = 'must not have NUL or broken characters';
    expect(messageOf(() => pipe.transform('a\u0000b', param))).toBe(`app: ${problem}`);
    expect(messageOf(() => pipe.transform('\ud800', { type: 'param' }))).toBe(`path: ${problem}`);
  });

  it('any other value → passes unchanged', () => {
    expect(pipe.transform('swift-otter', param)).toBe('swift-otter');
    const injected = {};
    expect(pipe.transform(injected, { type: 'custom' })).toBe(injected);
  });
});

class Credential {
  @Text({ max: 20 })
  readonly email: string;

  @Verbatim({ max: 20 })
  readonly password: string;
}

const read = (contentType: string, text: string) =>
  readFormOrJson(Credential, new RawBody(Buffer.from(text), contentType));

function refusalOf(contentType: string, text: string): string {
  try {
    read(contentType, text);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
  throw new Error('a refusal was expected');
}

describe('bodies sent as JSON or as a form', () => {
  it.each([
    ['application/json', '{"email":" a@b ","password":" p + "}'],
    [FORM_TYPE, 'email=+a%40b+&password=+p+%2B+'],
    ['application/x-www-form-urlencoded; charset=UTF-8', 'password=%20p%20%2b%20&email=a@b'],
  ])('%s → an instance of the class, texts trimmed, credentials not', (contentType, text) => {
    expect(read(contentType, text)).toEqual(Object.assign(new Credential(), { email: 'a@b', password: ' p + ' }));
  });

  it.each([
    [FORM_TYPE, 'email=a@b&email=c@d&password=p', 'email: is given twice'],
    [FORM_TYPE, 'email=a@b&password=p&__proto__=x', '__proto__: is not a known member'],
    [FORM_TYPE, 'email=a@b', 'password: is required'],
    [FORM_TYPE, '', 'email: is required'],
    [FORM_TYPE, 'email=a@b&password=%00', 'password: must be text of 1 to 20 characters'],
    ['application/json', '[]', 'body: must be a JSON object'],
    ['text/plain', 'email=a@b&password=p', 'Content-Type: must be application/json'],
    ['application/x-www-form-urlencoded-not', 'email=a@b&password=p', 'Content-Type: must be application/json'],
  ])('%s %s → %s', (contentType, text, refusal) => expect(refusalOf(contentType, text)).toBe(refusal));

  it('no body at all → refused', () => {
    expect(() => readFormOrJson(Credential, undefined)).toThrow('body: must be a JSON object');
  });
});
