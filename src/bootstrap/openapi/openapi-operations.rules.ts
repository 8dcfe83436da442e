import { ERRORS } from '../../common/errors/error-catalogue.js';
import { ExampleMaker, type ExampleSchema, type ExampleSource } from './openapi-examples.rules.js';

/** One body in one format. */
interface Media {
  schema?: ExampleSchema;
  example?: unknown;
}

interface Bodies {
  content?: Record<string, Media>;
}

/** The used part of an operation. */
export interface CompletedOperation {
  operationId?: string;
  requestBody?: Bodies;
  responses: Record<string, Bodies & { description?: string }>;
}

type CodesByStatus = Readonly<Record<number, readonly (keyof typeof ERRORS)[]>>;

/**
 * The errors of every route, by status.
 *
 * Source: docs/reference/management-api.md#openapi-document; 503 for an unavailable database:
 * docs/reference/security.md#dependency-failures.
 */
const SHARED_ERRORS: CodesByStatus = {
  400: ['invalid_request'],
  401: ['auth_required'],
  403: ['forbidden'],
  404: ['not_found'],
  503: ['service_unavailable'],
};

/**
 * The additional errors of every route whose method allows a body, even an ignored one.
 *
 * Source: docs/reference/security.md#bounded-work.
 */
const BODY_ERRORS: CodesByStatus = { 413: ['payload_too_large'], 415: ['invalid_request'] };

/**
 * Public operations without side effects that refuse no request.
 *
 * Source: docs/reference/management-api.md#openapi-document.
 */
const WITHOUT_SHARED_ERRORS: ReadonlySet<string> = new Set([
  'getHealth',
  'getConsoleCapabilities',
  'getCliCapabilities',
]);

const NAMED_CODE = /`(\w+)`/;

/** Adds the shared errors for each status that the operation does not document itself. */
export function addSharedErrors({ operationId = '', responses }: CompletedOperation, hasBody: boolean): void {
  if (WITHOUT_SHARED_ERRORS.has(operationId)) return;
  const shared = hasBody ? { ...SHARED_ERRORS, ...BODY_ERRORS } : SHARED_ERRORS;
  for (const [status, codes] of Object.entries(shared)) {
    responses[status] ??= {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
    };
  }
}

/** Adds request and response examples. `foreign` are bodies in third-party formats. */
export function addExamples(
  { requestBody, responses }: CompletedOperation,
  source: ExampleSource,
  foreign: { readonly request?: unknown; readonly answer?: unknown } = {},
): void {
  const request = new ExampleMaker(source, 'request');
  const answer = new ExampleMaker(source, 'answer');
  for (const media of Object.values(requestBody?.content ?? {})) {
    media.example = foreign.request ?? request.of(media.schema ?? {});
  }
  for (const [status, { content = {}, description = '' }] of Object.entries(responses)) {
    for (const media of Object.values(content)) {
      if (isOurError(media)) media.example = refusalBy(description);
      else if (status !== 'default') media.example = foreign.answer ?? answer.of(media.schema ?? {});
    }
  }
}

function isOurError({ schema }: Media): boolean {
  return schema?.$ref === '#/components/schemas/ErrorResponse';
}

/** The error example with the first code in a response's description. */
function refusalBy(description: string): object {
  const code = NAMED_CODE.exec(description)?.[1] ?? 'internal_error';
  const entry = Object.entries(ERRORS).find(([name]) => name === code);
  return { error: { code, message: entry?.[1].message ?? '' } };
}
