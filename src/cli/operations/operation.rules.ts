import { createHmac, hash } from 'node:crypto';
import type { DeploymentFacts } from '../../accounts/access/deployment.js';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { canonicalJson } from '../../idempotency/idempotency-record.rules.js';

/** Kinds of operations. Source: docs/reference/management-api.md#terminal-operations. */
export const OPERATION_KINDS = [
  'bootstrap',
  'login',
  'claim',
  'app.add',
  'app.key.add',
  'provider.add',
  'provider.update',
  'provider.rotate-key',
  'provider-gateway.add',
  'provider-gateway.rotate-key',
] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

/**
 * The kind of client that sent an operation. The key that an AI client's operation issued is revealed in the console.
 */
export type OperationSource = 'cli' | 'mcp';

/** Where the person requested the operation, for messages. */
export const ASKED_IN: Readonly<Record<OperationSource, string>> = { cli: 'terminal', mcp: 'AI client' };

/** The terminal, as it describes itself. */
export interface TerminalClient {
  readonly label: string;
  readonly os: string | null;
}

/** The members of a request, without its secret. */
export type OperationPayload = object;

/** The outcome of a completed operation, without its secret. */
export type OperationResult = object;

/** Why a step was refused, as the route of the change reports it. */
export interface OperationFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The times of an operation. Source: docs/reference/management-api.md#terminal-operations. */
export const PENDING_MS = 15 * 60 * 1000;
export const SEALED_MS = 15 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
export const LOGIN_KEPT_MS = DAY_MS;
export const OPERATION_KEPT_MS = 90 * DAY_MS;
export const BOOTSTRAP_KEPT_MS = 180 * DAY_MS;

/** Maximum number of pending operations of one address (logins), one account and one sender. */
export const MAX_PENDING = 10;

/** No 0, O, 1, I, L. Source: docs/reference/management-api.md#terminal-login. */
const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const CODE_LENGTH = 8;
/** The largest multiple of the alphabet's length in one byte; higher bytes are discarded, so no symbol is favoured. */
const CODE_BYTE_LIMIT = 256 - (256 % CODE_ALPHABET.length);

/** The id of the operation that a token opens; the terminal computes it itself. */
export function operationIdOf(token: Secret): string {
  return `op:${hash('sha256', token.reveal(), 'hex')}`;
}

/**
 * The proof in the link to the approval page, derived from the token: a repeated request shows the same link.
 *
 * @returns 64 hexadecimal digits.
 */
export function browserProofOf(token: Secret, deploymentId: string): Secret {
  return new Secret(derived(token, 'browser proof', deploymentId).toString('hex'));
}

/**
 * The code that a person types instead of following the link.
 *
 * @param attempt 0, or the number of codes that belong to other pending operations.
 * @returns eight symbols.
 */
export function userCodeOf(token: Secret, deploymentId: string, attempt: number): Secret {
  let code = '';
  for (let block = 0; code.length < CODE_LENGTH; block++) {
    for (const byte of derived(token, `user code ${attempt} ${block}`, deploymentId)) {
      if (byte < CODE_BYTE_LIMIT && code.length < CODE_LENGTH) code += CODE_ALPHABET[byte % CODE_ALPHABET.length];
    }
  }
  return new Secret(code);
}

function derived(token: Secret, purpose: string, deploymentId: string): Buffer {
  return createHmac('sha256', token.reveal()).update(`gateway cli ${purpose}\n${deploymentId}`).digest();
}

/** The path of the page where a person sees the key that an operation issued. */
export function revealPath(id: string): string {
  return `/reveal/${encodeURIComponent(id)}`;
}

/** The path of the page where a person decides on an operation. */
export function approvalPath(id: string): string {
  return `/cli/approve/${encodeURIComponent(id)}`;
}

/** The approval page. The proof is in the fragment, so it is in no request line and no log. */
export function approvalUrl(deployment: DeploymentFacts, id: string, token: Secret): string {
  return `${deployment.consoleOrigin}${approvalPath(id)}#${browserProofOf(token, deployment.id).reveal()}`;
}

/** The eight symbols of a typed code, in any case, with any blanks and dashes; `undefined` for any other text. */
export function typedUserCode(typed: string): Secret | undefined {
  const code = typed.toUpperCase().replace(/[\s-]/g, '');
  const isCode = code.length === CODE_LENGTH && [...code].every((symbol) => CODE_ALPHABET.includes(symbol));
  return isCode ? new Secret(code) : undefined;
}

/** `ABCD-EFGH`. */
export function shownUserCode(code: Secret): string {
  const symbols = code.reveal();
  return `${symbols.slice(0, 4)}-${symbols.slice(4)}`;
}

/**
 * Whether a text is the address of a listener of this machine: exactly `http://127.0.0.1:<port>/callback`.
 *
 * Source: RFC 8252, 7.3 and 8.3.
 */
export function isLoopbackRedirect(text: string): boolean {
  const port = /^http:\/\/127\.0\.0\.1:([1-9]\d{0,4})\/callback$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

/**
 * The hash of a request that a token is bound to, keyed by the token: the row alone does not allow guessing a secret.
 *
 * @param request JSON values.
 */
export function requestHashOf(token: Secret, request: unknown): string {
  return createHmac('sha256', token.reveal()).update(canonicalJson(request)).digest('hex');
}

export function noSuchOperation(): GatewayError {
  return new GatewayError('not_found', { message: 'Operation not found.', reason: 'operation_not_found' });
}

export function tokenOfAnotherOperation(): GatewayError {
  return new GatewayError('conflict', {
    message: 'token: was already used for another operation; create a new one.',
    reason: 'operation_token_used',
  });
}
