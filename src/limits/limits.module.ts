import { Module } from '@nestjs/common';
import { AddressLimits } from './address-limits.service.js';
import { RequestLimits } from './requests/request-limits.service.js';

/**
 * How often one address may call our own public routes. Knows names and numbers, no other room.
 *
 * Tables: none. Routes: none; those that are limited carry `@AddressLimited()`. Codes: rate_limited.
 */
@Module({ providers: [AddressLimits, RequestLimits], exports: [AddressLimits, RequestLimits] })
export class LimitsModule {}
