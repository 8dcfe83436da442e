import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Secret } from '../../common/log/secret.js';

/** Where the tokens of a connection work: at `/mcp` alone, or there and on the management API. */
export type TokenAudience = 'api' | 'mcp';

/** Lifetimes. Source: docs/reference/management-api.md#oauth-tokens. */
export const ACCESS_SECONDS = 600;
export const CONNECTION_MS = 30 * 24 * 60 * 60 * 1000;
/** How long a replaced refresh token returns the pair that replaced it. */
export const REPLAY_MS = 30_000;
/** How long a new refresh token returns its own pair again instead of another one. */
export const ROTATION_MS = 5_000;

const ACCESS_PREFIX = 'gw_oat_';
const REFRESH_PREFIX = 'gw_ort_';
const TOKEN = /^gw_(oat|ort)_(conn_[0-9a-z]{20})\.([A-Za-z0-9_-]{43})$/;
/** Half random, half a code that distinguishes our tokens from guesses. Together 43 characters of base64url. */
export const RANDOM_BYTES = 16;
const KEY_BYTES = 32;

/** A pair of tokens in plaintext. */
export interface TokenPair {
  readonly access: Secret;
  readonly refresh: Secret;
}

/** A token of the right form. */
export interface PresentedToken {
  readonly kind: 'access' | 'refresh';
  readonly connectionId: string;
  readonly token: Secret;
}

/** @returns `undefined` for any other text. */
export function presentedToken(text: string): PresentedToken | undefined {
  const [, kind, connectionId] = TOKEN.exec(text) ?? [];
  if (connectionId === undefined) return undefined;
  return { kind: kind === 'oat' ? 'access' : 'refresh', connectionId, token: new Secret(text) };
}

/**
 * A new pair.
 *
 * @param random returns {@link RANDOM_BYTES} bytes.
 * @param secret marks the refresh token as ours.
 */
export function newPair(connectionId: string, random: () => Buffer, secret: Secret): TokenPair {
  const access = Buffer.concat([random(), random()]).toString('base64url');
  return {
    access: new Secret(`${ACCESS_PREFIX}${connectionId}.${access}`),
    refresh: new Secret(`${REFRESH_PREFIX}${connectionId}.${marked(connectionId, random(), secret)}`),
  };
}

/**
 * Whether a refresh token was issued here, even if its generation is no longer stored: an old one that reappears was
 * stolen or copied, an invented one proves nothing and must not end a connection.
 */
export function isIssuedHere({ connectionId, token }: PresentedToken, secrets: readonly Secret[]): boolean {
  const end = token.reveal().slice(-43);
  const random = Buffer.from(end, 'base64url').subarray(0, RANDOM_BYTES);
  return secrets.some((secret) => timingSafeEqual(Buffer.from(marked(connectionId, random, secret)), Buffer.from(end)));
}

/** The form in which a token is stored, hexadecimal. */
export function tokenHash(token: Secret): string {
  return hash('sha256', token.reveal(), 'hex');
}

/** The key that seals an answer for the holder of a refresh token. Source: RFC 5869. */
export function answerKeyOf(refresh: Secret): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', refresh.reveal(), '', 'gateway oauth answer', KEY_BYTES)));
}

function marked(connectionId: string, random: Buffer, secret: Secret): string {
  const key = Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'gateway oauth refresh token', KEY_BYTES));
  const mark = createHmac('sha256', key).update(connectionId).update(random).digest().subarray(0, RANDOM_BYTES);
  return Buffer.concat([random, mark]).toString('base64url');
}
