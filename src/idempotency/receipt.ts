import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/** What a creation makes; the same idempotency key may be used once for each kind. */
export type CreationKind = 'app' | 'app_key' | 'provider' | 'provider_gateway';

/** Ids of what a creation made. A `keyId` says that its answer holds a key that is shown once. */
export interface CreatedIds {
  readonly appId?: string;
  readonly keyId?: string;
  readonly providerId?: string;
  readonly providerGatewayId?: string;
}

/** What a creation is answered with: the body, and what it made. */
export interface CreationAnswer<A extends object> {
  readonly body: A;
  readonly ids: CreatedIds;
}

/** A creation that named an idempotency key: whose it is, and how a retry of it is known. */
export interface ReceiptClaim {
  readonly id: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly credentialId: string;
  readonly kind: CreationKind;
  readonly proof: Secret;
  readonly proofHash: string;
  readonly requestHash: string;
}

/** What is kept of a creation. Exactly one of the answers is there, until the sealed one is cleared. */
export interface Receipt {
  readonly proofHash: string;
  readonly requestHash: string;
  readonly ids: CreatedIds;
  /** JSON text of the answer, when it holds no key. */
  readonly answer: string | null;
  /** The same, sealed, when it holds one. */
  readonly sealedAnswer: string | null;
  /** Until when the sealed answer is given out; null when there never was one. */
  readonly sealedUntil: Instant | null;
}
