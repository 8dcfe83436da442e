import { Module } from '@nestjs/common';
import { IssuerKeySets } from './issuer-key-sets.js';
import { IssuerTokens } from './issuer-tokens.service.js';

/**
 * Verification of identity tokens: the issuers' key sets, the claim rules, and the user id of a token.
 *
 * Tables: none. Routes: none. Codes: issuer_token_rejected, issuer_claims_missing, issuer_verification_unavailable. Log
 * lines: issuer_key_set_failed.
 */
@Module({
  providers: [IssuerKeySets, IssuerTokens],
  exports: [IssuerTokens],
})
export class IssuersModule {}
