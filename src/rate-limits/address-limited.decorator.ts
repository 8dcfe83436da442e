import { applyDecorators, UseGuards } from '@nestjs/common';
import { Fails } from '../common/http/openapi.decorators.js';
import { AddressLimitGuard, AddressLimitOf } from './address-limit.guard.js';
import type { AddressLimitScope } from './address-limit.rules.js';

/**
 * Limits the calls of one address to a route. Decorators apply from the bottom, so this one must be below every other
 * decorator with a guard: its guard then runs first.
 */
export function AddressLimited(scope: AddressLimitScope): MethodDecorator {
  return applyDecorators(AddressLimitOf(scope), UseGuards(AddressLimitGuard), Fails('rate_limited'));
}
