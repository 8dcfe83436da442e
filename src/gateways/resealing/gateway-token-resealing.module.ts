import { Module } from '@nestjs/common';
import { GatewayTokenResealingRepository } from './gateway-token-resealing.repository.js';
import { GatewayTokenResealing } from './gateway-token-resealing.service.js';

/** Tokens that an older version sealed, apart from those who use them, so that maintenance needs no service. */
@Module({ providers: [GatewayTokenResealing, GatewayTokenResealingRepository], exports: [GatewayTokenResealing] })
export class GatewayTokenResealingModule {}
