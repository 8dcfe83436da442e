import { Module } from '@nestjs/common';
import { ProviderKeyResealingRepository } from './provider-key-resealing.repository.js';
import { ProviderKeyResealing } from './provider-key-resealing.service.js';

/** Keys that an older version sealed, apart from those who use them, so that maintenance needs no service. */
@Module({ providers: [ProviderKeyResealing, ProviderKeyResealingRepository], exports: [ProviderKeyResealing] })
export class ProviderKeyResealingModule {}
