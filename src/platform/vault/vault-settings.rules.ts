import { createSecretKey, type KeyObject } from 'node:crypto';
import { Secret } from '../../common/log/secret.js';
import { isMetadataHost } from '../outbound/address.rules.js';
import { LOOPBACK_HOSTS } from '../outbound/url-host.rules.js';

/** Environment variables by name; an empty value counts as unset. */
export type VaultEnvironment = Readonly<Record<string, string | undefined>>;

/** Keys held by this process. Key objects neither print nor serialize their bytes. */
export interface LocalVaultSettings {
  readonly mode: 'local';
  /** Version (1..9999) to 256-bit key; always contains `currentVersion`. */
  readonly keys: ReadonlyMap<number, KeyObject>;
  /** The version that encrypts new secrets. */
  readonly currentVersion: number;
}

/** A remote service that wraps one data key per secret. Both values are secret. */
export interface KmsVaultSettings {
  readonly mode: 'kms';
  /** Base address without a trailing slash. */
  readonly url: Secret;
  readonly token: Secret;
}

export type VaultSettings = LocalVaultSettings | KmsVaultSettings;

/** Why no vault can be created: the variable, never its value. */
export interface VaultMisconfiguration {
  readonly variable: string;
  readonly problem: string;
}

const MODE = 'SECRET_VAULT_MODE';
const LOCAL_PREFIX = 'SECRET_VAULT_LOCAL_';
const KMS_PREFIX = 'SECRET_VAULT_KMS_';
const KMS_URL = 'SECRET_VAULT_KMS_URL';
const KMS_TOKEN = 'SECRET_VAULT_KMS_TOKEN';
const CURRENT = 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION';
const FIRST_KEY = 'SECRET_VAULT_LOCAL_KEK_V1';
const KEY_NAME = /^SECRET_VAULT_LOCAL_KEK_V([1-9][0-9]{0,3})$/;
const VERSION = /^[1-9][0-9]{0,3}$/;
const KEY_BYTES = 32;
/** Characters that a header value allows; others would fail at the first call instead of at the start. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/**
 * Reads the vault's settings or reports the invalid variable. Problems are checked in order: mode, variables of the
 * other mode, names, keys, current version. Source: docs/reference/security.md#vault.
 */
export function readVaultSettings(env: VaultEnvironment): VaultSettings | VaultMisconfiguration {
  const mode = env[MODE];
  if (!mode) return { variable: MODE, problem: 'is required: "local" or "kms"' };
  if (mode !== 'local' && mode !== 'kms') return { variable: MODE, problem: 'must be "local" or "kms"' };
  const foreign = present(env, mode === 'local' ? KMS_PREFIX : LOCAL_PREFIX)[0];
  if (foreign !== undefined) return { variable: foreign, problem: `does not belong to mode "${mode}"; unset it` };
  return mode === 'local' ? readLocal(env) : readKms(env);
}

/** The variable of a version of the local key. */
export function keyVariable(version: number): string {
  return `${LOCAL_PREFIX}KEK_V${version}`;
}

export function isVaultMisconfiguration(
  settings: VaultSettings | VaultMisconfiguration,
): settings is VaultMisconfiguration {
  return 'variable' in settings;
}

function readLocal(env: VaultEnvironment): LocalVaultSettings | VaultMisconfiguration {
  const names = present(env, LOCAL_PREFIX).filter((name) => name !== CURRENT);
  const misnamed = names.find((name) => !KEY_NAME.test(name));
  if (misnamed !== undefined) return { variable: misnamed, problem: 'is not a key name: V1 to V9999, no leading zero' };
  if (!names.includes(FIRST_KEY)) return { variable: FIRST_KEY, problem: 'is required in mode "local"' };
  const keys = new Map<number, KeyObject>();
  for (const name of names) {
    const key = readKey(env[name] ?? '');
    if (typeof key === 'string') return { variable: name, problem: key };
    keys.set(Number(KEY_NAME.exec(name)?.[1]), key);
  }
  const current = env[CURRENT] || '1';
  if (!VERSION.test(current)) return { variable: CURRENT, problem: 'must be a whole number from 1 to 9999' };
  if (!keys.has(Number(current))) return { variable: CURRENT, problem: 'names a version without a key' };
  return { mode: 'local', keys, currentVersion: Number(current) };
}

function readKms(env: VaultEnvironment): KmsVaultSettings | VaultMisconfiguration {
  const url = env[KMS_URL];
  const token = env[KMS_TOKEN];
  if (!url) return { variable: KMS_URL, problem: 'is required in mode "kms"' };
  if (!isKmsUrl(url)) {
    return { variable: KMS_URL, problem: 'must be an https URL (http on loopback only) without credentials or query' };
  }
  if (isMetadataHost(new URL(url).hostname)) {
    return { variable: KMS_URL, problem: 'must not be a cloud metadata address' };
  }
  if (!token) return { variable: KMS_TOKEN, problem: 'is required in mode "kms"' };
  if (!HEADER_SAFE.test(token)) return { variable: KMS_TOKEN, problem: 'must be printable ASCII without spaces' };
  return { mode: 'kms', url: new Secret(new URL(url).href.replace(/\/+$/, '')), token: new Secret(token) };
}

/** Sorted, so that the same environment always reports the same variable. */
function present(env: VaultEnvironment, prefix: string): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name])
    .sort();
}

/** A key, or what is wrong with it. Node skips invalid base64 characters; encoding the bytes again reveals that. */
function readKey(base64: string): KeyObject | string {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) {
    return 'must be base64 in its standard alphabet, with its padding and without blanks or line ends';
  }
  if (bytes.length === KEY_BYTES) return createSecretKey(bytes);
  return `must be base64 of exactly ${KEY_BYTES} bytes; these are ${bytes.length}`;
}

/** Data keys are sent to this address unencrypted inside the channel, so plain http is limited to loopback. */
function isKmsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const confidential = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname));
  return confidential && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
