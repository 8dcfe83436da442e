import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Fails } from '../../common/http/openapi.decorators.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import { Environment } from '../config/environment.js';
import type { AddressLimitScope } from './address-limit.rules.js';
import { AddressLimits } from './address-limits.service.js';
import { addressOf } from './client-address.rules.js';

/** The address limit of a route. */
const AddressLimitOf = Reflector.createDecorator<AddressLimitScope>();

/** Counts a call before any other work: no body is parsed and no application is loaded. */
@Injectable()
class AddressLimitGuard implements CanActivate {
  constructor(
    private readonly limits: AddressLimits,
    private readonly environment: Environment,
    private readonly reflector: Reflector,
  ) {}

  /** @throws rate_limited */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { app?: string } }>>();
    const subject = addressOf(request, this.environment.TRUSTED_PROXIES);
    const scope = this.reflector.get(AddressLimitOf, context.getHandler());
    return whenResolved(this.limits.admit(scope, { subject, app: request.params.app }), () => true);
  }
}

/**
 * Limits the calls of one address to a route. Decorators apply from the bottom, so this one must be below every other
 * decorator with a guard: its guard then runs first.
 */
export function AddressLimited(scope: AddressLimitScope): MethodDecorator {
  return applyDecorators(AddressLimitOf(scope), UseGuards(AddressLimitGuard), Fails('rate_limited'));
}
