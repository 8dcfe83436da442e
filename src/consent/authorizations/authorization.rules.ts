import { createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Grant } from '../../accounts/access/admin-principal.js';
import type { TokenAudience } from '../../accounts/connections/oauth-token.rules.js';
import { Secret } from '../../common/log/secret.js';
import type { ApprovalState } from '../../sign-in/approvals/approval.rules.js';

/** Times of an authorization. Source: docs/reference/management-api.md#oauth-authorization. */
export const PENDING_MS = 10 * 60 * 1000;
export const CODE_MS = 10 * 60 * 1000;
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** Maximum number of pending authorizations of one address. */
export const MAX_PENDING = 30;

const MAX_STATE = 2_048;
/** Source: RFC 6749, appendix A.5. */
const VISIBLE = /^[\x20-\x7e]*$/;
/** A SHA-256 hash in base64url. Source: RFC 7636 4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
/** Source: RFC 7636 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const KEY_BYTES = 32;

/** `retired` is computed: the connection has ended. */
export type AuthorizationState = ApprovalState | 'retired';

/** What a client requests, besides its identity and redirect URI. */
export interface AuthorizationRequest {
  readonly audience: TokenAudience;
  readonly grant: Grant;
  readonly codeChallenge: string;
  readonly state: string | null;
}

/** An error that is reported to the client, in the terms of RFC 6749 4.1.2.1 and RFC 8707 2. */
export interface AuthorizationError {
  readonly error: 'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'invalid_target';
  readonly description: string;
}

/** The parameters of a query that may occur once each; without a value they count as absent (RFC 6749 3.1). */
export class SingleParameters {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  /** @returns the name of a repeated parameter instead, if there is one. */
  static of(parameters: URLSearchParams): SingleParameters | { readonly repeated: string } {
    const seen = new Set<string>();
    const values = new Map<string, string>();
    for (const [name, value] of parameters) {
      if (seen.has(name)) return { repeated: name };
      seen.add(name);
      if (value !== '') values.set(name, value);
    }
    return new SingleParameters(values);
  }

  get(name: string): string | undefined {
    return this.values.get(name);
  }
}

/**
 * Reads an authorization request whose client and redirect URI are already trusted.
 *
 * @param issuer the console's origin.
 * Source: RFC 6749 4.1.1, RFC 7636 4.3, RFC 8707 2.
 */
export function readAuthorizationRequest(
  parameters: SingleParameters,
  issuer: string,
): AuthorizationRequest | AuthorizationError {
  const responseType = parameters.get('response_type');
  if (responseType === undefined) return wrong('response_type is missing; it must be code');
  if (responseType !== 'code') return { error: 'unsupported_response_type', description: 'response_type must be code' };
  const state = parameters.get('state') ?? null;
  if (state !== null && (state.length > MAX_STATE || !VISIBLE.test(state))) {
    return wrong(`state must have at most ${MAX_STATE} printable ASCII characters`);
  }
  const codeChallenge = parameters.get('code_challenge');
  if (codeChallenge === undefined) return wrong('code_challenge is missing; PKCE is required');
  if (parameters.get('code_challenge_method') !== 'S256') return wrong('code_challenge_method must be S256');
  if (!CHALLENGE.test(codeChallenge)) return wrong('code_challenge must be a SHA-256 hash in base64url');
  const audience = audienceOf(parameters.get('resource'), issuer);
  if (audience === undefined) {
    return { error: 'invalid_target', description: `resource must be ${issuer} or ${issuer}/mcp` };
  }
  const grant = grantOf(parameters.get('scope'));
  if (grant === undefined) return { error: 'invalid_scope', description: 'scope may hold read and manage' };
  return { audience, grant, codeChallenge, state };
}

/**
 * The strongest scope of a list.
 *
 * @param scope names with single blanks between them; absent: `manage`.
 * @returns `undefined` for an unknown name.
 */
export function grantOf(scope: string | undefined): Grant | undefined {
  if (scope === undefined) return 'manage';
  const names = scope.split(' ');
  if (!names.every((name) => name === 'read' || name === 'manage')) return undefined;
  return names.includes('manage') ? 'manage' : 'read';
}

/** Where tokens for a resource work; `undefined` for a missing or foreign resource. */
export function audienceOf(resource: string | undefined, issuer: string): TokenAudience | undefined {
  if (resource === issuer || resource === `${issuer}/`) return 'api';
  return resource === `${issuer}/mcp` ? 'mcp' : undefined;
}

/** The id of the authorization that a code opens. */
export function authorizationIdOf(code: Secret): string {
  return `oauth-${hash('sha256', code.reveal(), 'hex')}`;
}

/** The key that seals the code for the browser with the proof. Source: RFC 5869. */
export function codeKeyOf(proof: Secret): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', proof.reveal(), '', 'gateway oauth code', KEY_BYTES)));
}

/** Whether a verifier matches a challenge, compared in constant time. Source: RFC 7636 4.6. */
export function fitsChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  return timingSafeEqual(Buffer.from(hash('sha256', verifier, 'base64url')), Buffer.from(challenge));
}

/** The redirect URI with the answer's parameters, in their order; absent ones are left out. */
export function redirectTo(redirectUri: string, answer: Readonly<Record<string, string | null>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) {
    if (value !== null) parameters.append(name, value);
  }
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters}`;
}

function wrong(description: string): AuthorizationError {
  return { error: 'invalid_request', description };
}
