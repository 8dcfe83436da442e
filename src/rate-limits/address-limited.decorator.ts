import { applyDecorators, UseGuards } from '@nestjs/common';
import { Fails } from '../common/http/openapi.decorators.js';
import { AddressLimitGuard, AddressLimitOf } from './address-limit.guard.js';
import type { AddressLimitScope } from './address-limit.rules.js';

/**
 * Limits how often one address may call a route. Stands below every other decorator that brings a guard, so that its
 * own comes first: decorators apply from the bottom.
 */
export function AddressLimited(scope: AddressLimitScope): MethodDecorator {
  return applyDecorators(AddressLimitOf(scope), UseGuards(AddressLimitGuard), Fails('rate_limited'));
}
