import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway-error.js';
import { RawBody } from '../http/raw-body.js';
import { Text, Verbatim } from './fields.js';
import { FORM_TYPE, readFormOrJson } from './form-or-json.decorator.js';

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

describe('bodies that come as JSON or from a form', () => {
  it.each([
    ['application/json', '{"email":" a@b ","password":" p + "}'],
    [FORM_TYPE, 'email=+a%40b+&password=+p+%2B+'],
    ['application/x-www-form-urlencoded; charset=UTF-8', 'password=%20p%20%2b%20&email=a@b'],
  ])('%s → the class, its texts trimmed, its credentials not', (contentType, text) => {
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
