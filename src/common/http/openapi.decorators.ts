import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiProperty, ApiResponse } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../errors/error-catalogue.js';

interface OperationText {
  /** Stable: generated clients depend on it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
}

/** Names a route in the OpenAPI document. */
export function Operation({ id, tag, summary, description }: OperationText): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: id, tags: [tag], summary, ...(description ? { description } : {}) }),
  );
}

/** A response member in US dollars. */
export function Dollars(description: string): PropertyDecorator {
  return ApiProperty({ type: 'number', description: `US dollars: ${description}` });
}

/** Documents the error codes of a route; `code@status` for a status other than the default. */
export function Fails(...codes: readonly (ErrorCode | `${ErrorCode}@${number}`)[]): MethodDecorator {
  const byStatus = new Map<number, string[]>();
  for (const entry of codes) {
    const [code = '', status] = entry.split('@');
    const actual = status ? Number(status) : statusOf(code);
    byStatus.set(actual, [...(byStatus.get(actual) ?? []), code]);
  }
  return applyDecorators(
    ...[...byStatus].map(([status, names]) =>
      ApiResponse({
        status,
        description: names.map((name) => `\`${name}\``).join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
      }),
    ),
  );
}

function statusOf(code: string): number {
  const entry = Object.entries(ERRORS).find(([name]) => name === code);
  return entry ? entry[1].status : 500;
}

/** Documents `X-App-Version`. @param demand when the header is required; optional when absent. */
export function AppVersionHeader(demand?: string): MethodDecorator & ClassDecorator {
  const use = 'Version of the application that calls; of longer ones, the first 64 characters are recorded.';
  return ApiHeader({
    name: 'X-App-Version',
    required: false,
    description: demand === undefined ? use : `${use} ${demand}`,
  });
}
