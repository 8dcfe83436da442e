import { Module } from '@nestjs/common';
import { AddressLimits } from './address-limits.service.js';

/**
 * How often one address may call the public routes of this service.
 *
 * Tables: none. Routes: none; those that are limited carry `@AddressLimited()`. Codes: rate_limited.
 */
@Module({ providers: [AddressLimits], exports: [AddressLimits] })
export class RateLimitsModule {}
