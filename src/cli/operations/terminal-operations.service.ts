import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError, invalidRequest, judgedBelow } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { type OperationPayload, operationIdOf, requestHashOf } from './operation.rules.js';
import { type OperationRow, OperationsRepository } from './operations.repository.js';
import { type OperationStanding, Operations } from './operations.service.js';
import { PendingOperations, TokenTaken } from './pending-operations.service.js';
import { isResourceKind, ResourceOperations } from './resource-operations.js';

/** Kinds that `createCliOperation` takes, and whether a person completes them in a browser. */
export const BROWSER_STEPS = {
  claim: 'always',
  'app.add': 'never',
  'app.key.add': 'never',
  'provider.add': 'optional',
  'provider.update': 'always',
  'provider.rotate-key': 'always',
  'provider-gateway.add': 'optional',
  'provider-gateway.rotate-key': 'always',
} as const;

/** Where messages find the members of a request. */
const PAYLOAD = 'payload';
/** How the payload of a step is read again when a person sees or completes it. */
const STEP = { isStep: true } as const;

/** A kind that a terminal with a key may send. */
export type TerminalKind = keyof typeof BROWSER_STEPS;

/** What a terminal sends. */
export interface OperationRequest {
  readonly kind: TerminalKind;
  readonly payload: OperationPayload;
  readonly token: Secret;
  /** Whether a person completes it in a browser, where the kind leaves that open. */
  readonly browser: boolean;
  /** Where the request comes from, as the approval page shows it. */
  readonly address: string;
}

/** What identifies a repeated request: the digests of its token and of its content. */
interface KnownRequest {
  readonly id: string;
  readonly requestHash: string;
}

/** A pending step as its approval page shows it. */
export interface OperationPreview {
  /** The account it is for; null for a login. */
  readonly account: Organization | null;
  /** Name of the credential that sent it; null when it is no longer stored, and for a login, which has none. */
  readonly requester: string | null;
  /** The resource that is to be changed; absent for a new one. */
  readonly snapshot?: object | undefined;
  /** Whether the person types the key of a provider or gateway. */
  readonly wantsSecret: boolean;
}

/**
 * Operations of terminals that have a key: run at once, or completed by a person in a browser as the sender.
 *
 * Source: docs/reference/management-api.md#terminal-operations.
 */
@Injectable()
export class TerminalOperations {
  constructor(
    private readonly operations: OperationsRepository,
    private readonly pending: PendingOperations,
    private readonly polling: Operations,
    private readonly resources: ResourceOperations,
    private readonly organizations: Organizations,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs an operation, or opens its browser step. The same request with the same token returns its state.
   *
   * @throws conflict the token was used for another request; rate_limited too many browser steps in a minute, or too
   * many that are pending; invalid_request at `payload.…`; and as the management route of the kind.
   */
  async create(admin: AdminPrincipal, request: OperationRequest): Promise<OperationStanding> {
    const id = operationIdOf(request.token);
    const requestHash = this.requestHash(admin, request);
    const known = await this.operations.find(id);
    if (known !== undefined) requireSame(known, requestHash);
    else await this.beginOnce(admin, request, { id, requestHash });
    return this.polling.poll(id, request.token);
  }

  /**
   * Completes a browser step as the credential that sent it. A refusal stays in the operation, where its sender reads
   * it.
   *
   * @param operation a pending one of a resource kind.
   * @throws conflict the sender's credential or role is gone; invalid_request at `secret`; operation_denied,
   * operation_expired; and as the management route of the kind.
   */
  async approve(operation: OperationRow, secret: string | undefined): Promise<void> {
    const { kind, id, actionSource } = operation;
    if (!isResourceKind(kind)) throw new Error(`${kind} changes no resource.`);
    const sentAt = actionSource === 'cli' ? PAYLOAD : undefined;
    const prepared = await this.noting(id, async () => {
      const admin = await this.pending.requireSender(operation);
      return judgedBelow(sentAt, () => this.resources.prepare(kind, admin, operation.payload ?? {}, STEP));
    });
    if (prepared.wantsSecret && secret === undefined) throw invalidRequest('secret', 'is required: type the key');
    if (!prepared.wantsSecret && secret !== undefined)
      throw invalidRequest('secret', 'is not needed for this operation');
    await this.noting(id, () => judgedBelow(sentAt, () => prepared.run(secret, this.pending.completing(operation))));
  }

  /** Stores the refusal of a step in its operation, unless the person has to sign in first. */
  async noting<T>(id: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GatewayError && error.code !== 'session_required') {
        const { code, message } = error;
        await this.operations.noteFailure(id, { code, message }, this.clock.now());
      }
      throw error;
    }
  }

  /**
   * A pending operation for its approval page.
   *
   * @throws conflict as `approve`; not_found the resource or the account is gone.
   */
  async preview(operation: OperationRow): Promise<OperationPreview> {
    const { kind, organizationId } = operation;
    const account = kind === 'login' || organizationId === null ? null : await this.organizations.read(organizationId);
    const requester = kind === 'login' ? null : await this.pending.senderName(operation);
    if (!isResourceKind(kind)) return { account, requester, wantsSecret: false };
    const admin = await this.pending.requireSender(operation);
    const { snapshot, wantsSecret } = await this.resources.prepare(kind, admin, operation.payload ?? {}, STEP);
    return { account, requester, snapshot, wantsSecret };
  }

  /** The same operation may have begun meanwhile: it took the handle, the slug or the last place that was left. */
  private async beginOnce(admin: AdminPrincipal, request: OperationRequest, known: KnownRequest): Promise<void> {
    try {
      await this.begin(admin, request, known);
    } catch (error) {
      const first = await this.operations.find(known.id);
      if (first === undefined) throw error instanceof TokenTaken ? tokenUsed() : error;
      requireSame(first, known.requestHash);
    }
  }

  private async begin(
    admin: AdminPrincipal,
    request: OperationRequest,
    { id, requestHash }: KnownRequest,
  ): Promise<void> {
    const isStep = needsBrowser(request);
    const { kind, payload, token, address } = request;
    const created = this.pending.new(admin, { id, kind, payload, requestHash, actionSource: 'cli', address });
    if (kind === 'claim') {
      requireNoMembers(payload);
      await this.requireUnclaimed(admin);
      await this.pending.openStep(created, token);
      return;
    }
    await judgedBelow(PAYLOAD, async () => {
      const prepared = await this.resources.prepare(kind, admin, payload, { isStep });
      if (isStep) await prepared.validate?.();
      else await prepared.run(undefined, this.pending.atOnce(created));
    });
    if (isStep) await this.pending.openStep(created, token);
  }

  /** @throws conflict a person owns the account, so that nobody can claim it. */
  async requireUnclaimed({ organizationId }: AdminPrincipal): Promise<void> {
    const { claimed } = await this.organizations.read(organizationId);
    if (claimed) {
      throw new GatewayError('conflict', { message: 'A person already owns this account.', reason: 'account_claimed' });
    }
  }

  private requestHash(admin: AdminPrincipal, { kind, payload, browser, token }: OperationRequest): string {
    const { organizationId, identityId } = admin;
    return requestHashOf(token, { kind, payload, browser, organizationId, identityId });
  }
}

/** @throws invalid_request at `browser`: the kind has no browser step, or always has one. */
function needsBrowser({ kind, browser }: OperationRequest): boolean {
  const step = BROWSER_STEPS[kind];
  if (step === 'never' && browser)
    throw invalidRequest('browser', `is not allowed for "${kind}", which runs immediately`);
  return step === 'always' || browser;
}

/** @throws invalid_request naming the first member. */
function requireNoMembers(payload: OperationPayload): void {
  const [member] = Object.keys(payload);
  if (member !== undefined) throw invalidRequest(`${PAYLOAD}.${member}`, 'is not a known member');
}

function requireSame(operation: OperationRow, requestHash: string): void {
  if (operation.requestHash !== requestHash) throw tokenUsed();
}

function tokenUsed(): GatewayError {
  return new GatewayError('conflict', {
    message: 'token: was already used for another request; create a new one.',
    reason: 'operation_token_used',
  });
}
