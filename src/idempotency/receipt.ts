import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/** The kind of a created resource; an idempotency key may be used once per kind. */
export type CreationKind = 'app' | 'app_key' | 'provider' | 'provider_gateway';

/** Ids of the created resources. With a `keyId` the response holds a key that is shown once. */
export interface CreatedIds {
  readonly appId?: string;
  readonly keyId?: string;
  readonly providerId?: string;
  readonly providerGatewayId?: string;
}

/** The response of a creation: the body and the created ids. */
export interface CreationAnswer<A extends object> {
  readonly body: A;
  readonly ids: CreatedIds;
}

/** The claim of a creation with an idempotency key: its owner, and the hashes that identify a retry. */
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

/** A stored receipt. Exactly one of the two answers is set, until the sealed one is cleared. */
export interface Receipt {
  readonly proofHash: string;
  readonly requestHash: string;
  readonly ids: CreatedIds;
  /** JSON text of the response when it holds no key. */
  readonly answer: string | null;
  /** The same, sealed, when it holds a key. */
  readonly sealedAnswer: string | null;
  /** End of the replay of the sealed answer; null without one. */
  readonly sealedUntil: Instant | null;
}
