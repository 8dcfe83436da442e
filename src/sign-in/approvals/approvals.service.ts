import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { personActor } from '../../accounts/access/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../../accounts/audit/audit-trail.js';
import type { Membership } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { provesHash } from '../../common/proof-hash.rules.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { CountedOnce } from '../../platform/address-limits/counted-once.js';
import type { BrowserClient } from '../browser-sessions.service.js';
import { People } from '../people/people.service.js';
import { personOf, requirePending } from './approval.rules.js';

/** What a client asked for: whoever holds the proof of its link decides on it, once. */
export interface ApprovalRequest {
  readonly id: string;
  readonly state: 'pending' | 'completed' | 'denied';
  readonly expiresAt: Instant;
  readonly proofHash: string | null;
}

/** Where the requests of one kind are stored, and how they are refused. */
export interface ApprovalKind<Request extends ApprovalRequest> {
  readonly repository: {
    find(id: string): Promise<Request | undefined>;
    lock(tx: EntityManager, id: string): Promise<Request | undefined>;
    update(tx: EntityManager, id: string, change: { readonly state: 'denied' }): Promise<void>;
  };
  unknown(): GatewayError;
  expired(): GatewayError;
  /** The message for a wrong proof. */
  readonly wrongProof: string;
}

/** The person who looks at a request. */
export interface Viewing {
  readonly viewer: { readonly name: string | null; readonly email: string } | null;
  readonly memberships: readonly Membership[];
  /** Why the viewer cannot approve for one of their accounts. */
  readonly blockedBy: 'registration_required' | 'no_eligible_organization' | null;
}

/**
 * The decision of a person, in a browser, on what a client asked for: an operation of a terminal, or the authorization
 * of an OAuth client.
 */
@Injectable()
export class Approvals {
  readonly #counted = new CountedOnce();

  constructor(
    private readonly dataSource: DataSource,
    private readonly people: People,
    private readonly organizations: Organizations,
    private readonly trail: AuditTrail,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
  ) {}

  /**
   * The request, once its proof is verified and the call is counted: once for each proof that a browser sends.
   *
   * @param isProof for requests that accept another proof than that of their link.
   * @throws as `unknown` of the kind; forbidden a wrong proof; rate_limited too many calls for one request.
   */
  async authorized<Request extends ApprovalRequest>(
    { repository, unknown, wrongProof }: ApprovalKind<Request>,
    { id, proof }: { readonly id: string; readonly proof: Secret },
    isProof = async ({ proofHash }: Request) => provesHash(proof, proofHash),
  ): Promise<Request> {
    const request = await repository.find(id);
    if (request === undefined) throw unknown();
    if (!(await isProof(request))) {
      throw new GatewayError('forbidden', { message: wrongProof, reason: 'submission_token_wrong' });
    }
    await this.#counted.once(proof, () => this.limits.admit('submission', { subject: id }));
    return request;
  }

  async viewing({ session }: BrowserClient): Promise<Viewing> {
    if (session === undefined) return { viewer: null, memberships: [], blockedBy: 'registration_required' };
    const { name, email } = await this.people.profile(session.row);
    const memberships = await this.organizations.list(personOf(session));
    const blockedBy = memberships.length === 0 ? 'no_eligible_organization' : null;
    return { viewer: { name, email }, memberships, blockedBy };
  }

  /**
   * Approves in one transaction, which has locked the request.
   *
   * @param approve gets a pending request, or a completed one, whose answer it repeats.
   * @throws as `unknown` and `expired` of the kind; operation_denied; and as `approve`.
   */
  approve<Request extends ApprovalRequest, T>(
    kind: ApprovalKind<Request>,
    id: string,
    approve: (tx: EntityManager, request: Request) => Promise<T>,
  ): Promise<T> {
    return this.dataSource.transaction(async (tx) => {
      const request = await locked(tx, kind, id);
      if (request.state !== 'completed') requirePending(request, this.clock.nowMs(), kind.expired);
      return approve(tx, request);
    });
  }

  /**
   * Denies; nobody needs to be signed in. The denial of a signed-in person is in the audit trail of their current account.
   *
   * @param entryOf the entry of the first denial; a repeated one changes nothing.
   * @returns the request as it was before.
   * @throws as `unknown` and `expired` of the kind; already_completed.
   */
  deny<Request extends ApprovalRequest>(
    kind: ApprovalKind<Request>,
    id: string,
    { session }: BrowserClient,
    entryOf: (request: Request) => AuditEntry,
  ): Promise<Request> {
    return this.dataSource.transaction(async (tx) => {
      const request = await locked(tx, kind, id);
      if (request.state === 'denied') return request;
      requirePending(request, this.clock.nowMs(), kind.expired);
      await kind.repository.update(tx, id, { state: 'denied' });
      const organizationId = session?.row.organizationId;
      if (session && organizationId) {
        await this.trail.record(tx, personActor(organizationId, personOf(session)), entryOf(request));
      }
      return request;
    });
  }
}

async function locked<Request extends ApprovalRequest>(
  tx: EntityManager,
  { repository, unknown }: ApprovalKind<Request>,
  id: string,
): Promise<Request> {
  const request = await repository.lock(tx, id);
  if (request === undefined) throw unknown();
  return request;
}
