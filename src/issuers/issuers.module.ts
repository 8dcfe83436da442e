import { Module } from '@nestjs/common';
import { IssuerKeySets } from './issuer-key-sets.js';
import { IssuerTokens } from './issuer-tokens.service.js';

/**
 * Tokens of applications' identity providers: their keys, what they must say, and whom they name.
 *
 * Tables: none. Routes: none. Codes: issuer_token_rejected, issuer_claims_missing, issuer_verification_unavailable.
 * Log lines: issuer_key_set_failed.
 */
@Module({
  providers: [IssuerKeySets, IssuerTokens],
  exports: [IssuerTokens],
})
export class IssuersModule {}
