import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { invalidRequest } from '../../../common/errors/gateway-error.js';
import { readShape } from '../../../common/fields/read-shape.js';
import { GATEWAY_TYPES, type GatewayType } from '../../../upstreams/routes/gateway-types.js';

/** A JSON object that is not yet validated. */
export type SentBody = Readonly<Record<string, unknown>>;

/** A class for each type of gateway. */
type Forms<T> = Readonly<Record<GatewayType, Type<T>>>;

/** The OpenAPI schema of a union discriminated by `type`. */
interface ByTypeSchema {
  readonly oneOf: { $ref: string }[];
  readonly discriminator: { propertyName: string; mapping: Record<string, string> };
}

/**
 * Validates a body against the class of its `type`.
 *
 * @param sent a JSON object.
 * @param path as `readShape`.
 * @throws invalid_request at `type`, listing the types, and for the shape of the type as `readShape`.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export function readByType<T extends object>(forms: Forms<T>, sent: SentBody, path?: string): T {
  const type = GATEWAY_TYPES.find((known) => known === sent.type);
  if (type === undefined) {
    throw invalidRequest(
      path === undefined ? 'type' : `${path}.type`,
      `must be one of ${GATEWAY_TYPES.map((known) => `"${known}"`).join(', ')}`,
    );
  }
  return readShape(forms[type], sent, path);
}

/** The OpenAPI schema of such a union; the classes must be among the document's models. */
export function byTypeSchema(forms: Forms<object>): ByTypeSchema {
  const paths = GATEWAY_TYPES.map((type): [GatewayType, string] => [type, getSchemaPath(forms[type])]);
  return {
    oneOf: paths.map(([, path]) => ({ $ref: path })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(paths) },
  };
}

/** Documents such a body. */
export function BodyByType(forms: Forms<object>): MethodDecorator {
  return applyDecorators(ApiExtraModels(...Object.values(forms)), ApiBody({ schema: byTypeSchema(forms) }));
}
