import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type Ready, whenReady } from '../common/when-ready.js';
import { Environment } from '../platform/config/environment.js';
import type { AddressLimitScope } from './address-limit.rules.js';
import { AddressLimits } from './address-limits.service.js';
import { addressOf } from './request-address.js';

/** The address limit of a route. */
export const AddressLimitOf = Reflector.createDecorator<AddressLimitScope>();

/** Counts a call before any other work: no body is parsed and no application is loaded. */
@Injectable()
export class AddressLimitGuard implements CanActivate {
  constructor(
    private readonly limits: AddressLimits,
    private readonly environment: Environment,
    private readonly reflector: Reflector,
  ) {}

  /** @throws rate_limited */
  canActivate(context: ExecutionContext): Ready<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { app?: string } }>>();
    const subject = addressOf(request, this.environment.TRUSTED_PROXIES);
    const scope = this.reflector.get(AddressLimitOf, context.getHandler());
    return whenReady(this.limits.admit(scope, { subject, app: request.params.app }), () => true);
  }
}
