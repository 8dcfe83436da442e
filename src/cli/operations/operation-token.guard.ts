import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { ApiParam, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Access } from '../../common/http/access.js';
import { Fails } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { PROOF } from '../../common/proof-hash.rules.js';
import { operationIdOf } from './operation.rules.js';

const BEARER = /^bearer +(\S+)$/i;

type OperationRequest = FastifyRequest<{ Params: { id: string } }>;

/** Admits the terminal that opened the operation in the path: the id is the digest of its token. */
@Injectable()
export class OperationTokenGuard implements CanActivate {
  /** @throws forbidden no token, or the token of another operation. */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<OperationRequest>();
    const token = tokenOf(request);
    if (token !== undefined && operationIdOf(token) === request.params.id) return true;
    throw new GatewayError('forbidden', {
      message: 'Send the token that opened this operation as the bearer.',
      reason: 'operation_token_wrong',
    });
  }
}

/** A route for the terminal that opened the operation. */
export function OperationAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'operation' }),
    UseGuards(OperationTokenGuard),
    ApiSecurity('OperationToken'),
    ApiParam({
      name: 'id',
      description: '`op:` and the SHA-256 of the token, hexadecimal.',
      schema: { type: 'string' },
    }),
    Fails('forbidden', 'not_found'),
  );
}

/** The token of the terminal as a handler argument: `@OperationToken() token: Secret`. */
export const OperationToken = createParamDecorator((_data: undefined, context): Secret => {
  const token = tokenOf(context.switchToHttp().getRequest<OperationRequest>());
  if (token === undefined) throw new Error('No operation guard ran before this route.');
  return token;
});

function tokenOf({ headers }: FastifyRequest): Secret | undefined {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  return token !== undefined && PROOF.test(token) ? new Secret(token) : undefined;
}
