import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { personActor } from '../../accounts/access/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../../accounts/audit/audit-trail.js';
import type { Membership } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { provesHash } from '../../common/proof-hash.rules.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { CountedOnce } from '../../platform/address-limits/once-per-request.js';
import type { BrowserClient } from '../browser-sessions.service.js';
import type { PersonRow } from '../people/people.repository.js';
import { People } from '../people/people.service.js';
import { personOf, requirePending, type StoredState } from './approval.rules.js';

/** A client's request. The holder of the proof in its link decides on it, once. */
export interface ApprovalRequest extends StoredState {
  readonly proofHash: string | null;
}

/** Where the requests of one kind are stored, and how they are refused. */
export interface ApprovalKind<Request extends ApprovalRequest> {
  readonly repository: {
    find(id: string): Promise<Request | undefined>;
    lock(tx: EntityManager, id: string): Promise<Request | undefined>;
    update(tx: EntityManager, id: string, change: { readonly state: 'denied' }): Promise<void>;
  };
  /** The refusals of an unknown request, and of an expired one. */
  unknown(): GatewayError;
  expired?(): GatewayError;
  /** The message for a wrong proof. */
  readonly wrongProof: string;
}

/** A signed-in person. */
export type Viewer = Pick<PersonRow, 'name' | 'email'>;

/** The viewer of a request, and what prevents them from approving it. */
export interface Viewing {
  readonly viewer: Viewer | null;
  readonly memberships: readonly Membership[];
  /** Why the viewer cannot approve for one of their accounts. */
  readonly blockedBy: 'registration_required' | 'no_eligible_organization' | null;
}

/**
 * The decision of a person, in a browser, on the request of a client: an operation of a terminal, or the authorization
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
    id: string,
    proof: Secret,
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

  /** The viewer of a request, and what prevents them from approving it. */
  async viewing({ session }: BrowserClient): Promise<Viewing> {
    if (session === undefined) return { viewer: null, memberships: [], blockedBy: 'registration_required' };
    const { name, email } = await this.people.profile(session.row);
    const memberships = await this.organizations.list(personOf(session));
    const blockedBy = memberships.length === 0 ? 'no_eligible_organization' : null;
    return { viewer: { name, email }, memberships, blockedBy };
  }

  /**
   * Decides in one transaction, which has locked the request. The first decision is final.
   *
   * @param end the state that the decision leads to.
   * @param work gets a pending request, or one that has already ended this way, whose answer it repeats.
   * @throws as `unknown` and `expired` of the kind; operation_denied, already_completed; and as `work`.
   */
  decide<Request extends ApprovalRequest, T>(
    kind: ApprovalKind<Request>,
    id: string,
    end: 'completed' | 'denied',
    work: (tx: EntityManager, request: Request) => Promise<T>,
  ): Promise<T> {
    return this.dataSource.transaction(async (tx) => {
      const request = await kind.repository.lock(tx, id);
      if (request === undefined) throw kind.unknown();
      if (request.state !== end) requirePending(request, this.clock.nowMs(), kind.expired);
      return work(tx, request);
    });
  }

  /**
   * Denies; no sign-in is needed. The denial of a signed-in person is in the audit trail of their current account.
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
    return this.decide(kind, id, 'denied', async (tx, request) => {
      if (request.state === 'denied') return request;
      await kind.repository.update(tx, id, { state: 'denied' });
      const who = session && personOf(session);
      if (who?.organizationId) await this.trail.record(tx, personActor(who.organizationId, who), entryOf(request));
      return request;
    });
  }
}
