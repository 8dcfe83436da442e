import { describe, expect, it } from '@jest/globals';
import { type CheckedAnswer, OpenApiCheck } from '../support/openapi/openapi-check.js';

const document = {
  paths: {
    '/things/{id}': {
      get: {
        parameters: [
          { in: 'header', name: 'X-Needed', required: true },
          { in: 'header', name: 'X-Wanted', required: false },
        ],
        responses: {
          200: { headers: { Location: { required: true } } },
          429: { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } },
          503: { headers: { 'Retry-After': {} } },
        },
      },
    },
    '/calls/{path}': {
      post: {
        responses: {
          400: { headers: { 'Server-Timing': {} } },
          default: { headers: { 'Server-Timing': { required: true } } },
        },
      },
    },
  },
  components: { headers: { RetryAfter: { required: true } } },
};
const check = OpenApiCheck.of(document);

function judging(
  answer: Partial<CheckedAnswer>,
  [method, url]: readonly [string, string] = ['GET', '/things/1'],
): () => void {
  return () => check.answer(method, url, { status: 200, body: undefined, headers: ['location'], ...answer });
}

describe('OpenApiCheck: headers', () => {
  it.each<[string, Partial<CheckedAnswer>]>([
    ['one that the document names', {}],
    ['one that every answer may have', { headers: ['location', 'date', 'content-type', 'cache-control'] }],
    ['one that is named and not promised, absent', { status: 503, headers: [] }],
    ['one that is named by reference', { status: 429, headers: ['retry-after'] }],
    ['a required one of the request, sent', { sent: ['x-needed'] }],
  ])('%s → accepted', (_, answer) => {
    expect(judging(answer)).not.toThrow();
  });

  it.each<[string, Partial<CheckedAnswer>, string]>([
    [
      'one that the document does not name',
      { headers: ['location', 'set-cookie'] },
      'does not name the header set-cookie',
    ],
    [
      'one that it names for another status',
      { status: 503, headers: ['location'] },
      'does not name the header location',
    ],
    ['a promised one, absent', { headers: [] }, 'promises the header Location'],
    ['one promised by reference, absent', { status: 429, headers: [] }, 'promises the header Retry-After'],
    ['a success without a required one of the request', { sent: ['x-wanted'] }, 'succeeded without X-Needed'],
  ])('%s → fails', (_, answer, message) => {
    expect(judging(answer)).toThrow(message);
  });

  it('answers of providers → may have any headers, and have the promised ones', () => {
    const call = ['POST', '/calls/a/b'] as const;
    expect(judging({ status: 201, headers: ['server-timing', 'x-any'] }, call)).not.toThrow();
    expect(judging({ status: 201, headers: ['x-any'] }, call)).toThrow('promises the header Server-Timing');
    expect(judging({ status: 400, headers: ['server-timing', 'x-any'] }, call)).toThrow(
      'does not name the header x-any',
    );
    expect(() => check.relayed('POST', '/calls/a', { status: 400, headers: ['x-any'] })).not.toThrow();
    expect(() => check.relayed('POST', '/calls/a', { status: 201, headers: [] })).toThrow('promises');
  });
});
