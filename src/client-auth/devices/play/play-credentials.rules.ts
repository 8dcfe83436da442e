import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import { invalidRequest } from '../../../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../../../common/json-object.js';
import { Secret } from '../../../common/log/secret.js';
import type { VaultContext } from '../../../platform/vault/sealed-blob.rules.js';
import type { ResponseKeys } from './integrity-token.rules.js';

/** What decodes integrity tokens: the vendor, called as a service account, or the application's own keys. */
export const CREDENTIAL_KINDS = ['service_account', 'response_keys'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** A service account of the vendor's cloud. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly keyId: string;
  /** PKCS 8 in PEM. */
  readonly privateKey: string;
}

/** Credentials as sent, in the form that is sealed. */
export interface ReadCredentials {
  readonly kind: CredentialKind;
  readonly secret: Secret;
  /** Distinguishes them in lists; not a secret. */
  readonly hint: string;
}

/** Credentials as in a request. */
interface SentCredentials {
  readonly service_account?: unknown;
  readonly decryption_key?: string;
  readonly verification_key?: string;
}

const AES_BYTES = 32;
const MIN_RSA_BITS = 2048;
const HINT_CHARACTERS = 6;
const MAX_NAME_LENGTH = 320;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NAME = /^[!-~]+$/;

/**
 * Reads credentials as sent: exactly one kind.
 *
 * @throws invalid_request naming the member; its text contains no part of a secret. Source:
 * docs/reference/management-api.md#play-integrity-credentials.
 */
export function readSentCredentials(sent: SentCredentials): ReadCredentials {
  const { service_account, decryption_key, verification_key } = sent;
  const hasKeys = decryption_key !== undefined || verification_key !== undefined;
  if ((service_account !== undefined) === hasKeys) {
    throw invalidRequest('body', 'must have service_account, or decryption_key and verification_key');
  }
  return hasKeys ? readKeys(decryption_key, verification_key) : readAccount(service_account);
}

function readAccount(sent: unknown): ReadCredentials {
  const account = membersOf(typeof sent === 'string' ? parsed(sent) : sent);
  if (account.type !== 'service_account') throw invalidRequest('service_account.type', 'must be "service_account"');
  const clientEmail = nameIn(account, 'client_email');
  const keyId = nameIn(account, 'private_key_id');
  const privateKey = rsaKeyOf(account.private_key);
  return {
    kind: 'service_account',
    secret: new Secret(JSON.stringify({ clientEmail, keyId, privateKey } satisfies ServiceAccount)),
    hint: clientEmail,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest('service_account', 'must be JSON');
  }
}

function membersOf(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidRequest('service_account', 'must be an object or its JSON text');
}

function nameIn(account: JsonObject, member: string): string {
  const value = account[member];
  if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH && NAME.test(value)) return value;
  throw invalidRequest(`service_account.${member}`, `must be text of 1 to ${MAX_NAME_LENGTH} visible characters`);
}

/** @returns PKCS 8 in PEM. */
function rsaKeyOf(sent: unknown): string {
  const key = typeof sent === 'string' ? unlessBroken(() => createPrivateKey(sent)) : undefined;
  const bits = key?.asymmetricKeyType === 'rsa' ? key.asymmetricKeyDetails?.modulusLength : undefined;
  if (key === undefined || bits === undefined || bits < MIN_RSA_BITS) {
    throw invalidRequest('service_account.private_key', `must be an RSA key of at least ${MIN_RSA_BITS} bits in PEM`);
  }
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function readKeys(decryptionKey = '', verificationKey = ''): ReadCredentials {
  const keys = { decryption: decryptionKey.trim(), verification: verificationKey.trim() };
  if (!BASE64.test(keys.decryption) || Buffer.from(keys.decryption, 'base64').length !== AES_BYTES) {
    throw invalidRequest('decryption_key', 'must be base64 of 32 bytes, as Play Console shows it');
  }
  const verification = unlessBroken(() => publicKeyOf(keys.verification));
  if (verification?.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw invalidRequest('verification_key', 'must be base64 of a public EC key on P-256, as Play Console shows it');
  }
  const shown = keys.verification.replace(/=+$/, '').slice(-HINT_CHARACTERS);
  return { kind: 'response_keys', secret: new Secret(JSON.stringify(keys)), hint: shown };
}

function publicKeyOf(text: string) {
  return createPublicKey({ key: text, format: 'der', type: 'spki', encoding: 'base64' });
}

function unlessBroken<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The service account that was sealed by {@link readSentCredentials}. */
export function serviceAccountOf(secret: Secret): ServiceAccount {
  return JSON.parse(secret.reveal());
}

/** The keys that were sealed by {@link readSentCredentials}. */
export function responseKeysOf(secret: Secret): ResponseKeys {
  const { decryption, verification }: { decryption: string; verification: string } = JSON.parse(secret.reveal());
  return { decryption: createSecretKey(decryption, 'base64'), verification: publicKeyOf(verification) };
}

/** Binds sealed credentials to their account, application and kind: a moved blob does not open. */
export function playCredentialContext(row: {
  readonly organizationId: string;
  readonly appId: string;
  readonly kind: string;
}): VaultContext {
  return { account: row.organizationId, app: row.appId, playIntegrity: row.kind };
}
