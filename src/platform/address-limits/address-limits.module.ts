import { Module } from '@nestjs/common';
import { AddressLimits } from './address-limits.service.js';

/**
 * Limits the calls of one address to the public routes.
 *
 * Tables: none.
 * Routes: none; limited routes carry `@AddressLimited()`.
 * Codes: rate_limited.
 */
@Module({ providers: [AddressLimits], exports: [AddressLimits] })
export class AddressLimitsModule {}
