import { decodeSequence } from 'cbor2';
import type { AttestEnvironment } from '../../../app-directory/config/app-attest-config.js';
import { isStorableText } from '../../../common/fields/config-values.js';
import { findExtension } from '../certificates/certificate.rules.js';
import { findSingleOctetString } from '../certificates/der.rules.js';
import { bytesOf, CBOR_OPTIONS, isCborMap } from './encoding.rules.js';

/** The attested key begins here; the signals end the bytes. */
const ATTESTED_TAIL = 87;
const ASSERTED_TAIL = 37;
const CATEGORY = 'apple_validation_category_01';
const BUNDLE_VERSION = 'apple_bundle_version_01';
const CATEGORY_BYTES = 4;
const MAX_CATEGORY = 0xffff_ffff;
const MAX_VERSION_CHARACTERS = 128;
/** The object identifier 1.2.840.113635.100.8.6. */
const ACCESS_EXTENSION = '2a864886f763640806';
/** The constraint of a Mac's key while System Integrity Protection and Full Security are on. */
const FULL_SECURITY = Buffer.from(
  'MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB',
  'base64',
);

/** What the system signs in addition to the proof, since iOS and macOS 27. Null: it does not say. */
export interface AppleSignals {
  /** How the app was installed: 2 TestFlight, 3 development, 4 App Store, 5 enterprise or ad hoc, and others. */
  readonly category: number | null;
  /** `CFBundleVersion`. */
  readonly bundle_version: string | null;
}

/** The facts of an App Attest key that policies check, stored with it. */
export interface AppAttestFacts extends AppleSignals {
  readonly environment: AttestEnvironment;
  /** Of Macs since macOS 27: whether System Integrity Protection and Full Security are on. */
  readonly full_security: boolean | null;
}

/** For a system that does not sign any. */
export const NO_SIGNALS: AppleSignals = { category: null, bundle_version: null };

/**
 * The signals of an attestation: the map after the key. Some systems send it without the flag that announces it.
 *
 * @param bytes authenticator data.
 * @returns none when what follows the credential id is not exactly a key and a map.
 * Source: docs/reference/security.md#signals-of-ios-and-macos-27.
 */
export function attestedSignals(bytes: Buffer): AppleSignals {
  const [key, map, ...others] = itemsOf(bytes.subarray(ATTESTED_TAIL));
  return isCborMap(key) && others.length === 0 ? signalsIn(map) : NO_SIGNALS;
}

/** The signals of an assertion: the map after the counter. @param bytes authenticator data. */
export function assertedSignals(bytes: Buffer): AppleSignals {
  const [map, ...others] = itemsOf(bytes.subarray(ASSERTED_TAIL));
  return others.length === 0 ? signalsIn(map) : NO_SIGNALS;
}

/** Whether the leaf certificate of a Mac certifies a system in full security; null if it does not say. */
export function fullSecurityOf(leaf: Buffer): boolean | null {
  const extension = findExtension(leaf, ACCESS_EXTENSION);
  const access = extension && findSingleOctetString(extension);
  return access === undefined ? null : access.equals(FULL_SECURITY);
}

/** The items of these bytes; none if they are not CBOR. */
function itemsOf(bytes: Buffer): unknown[] {
  try {
    return [...decodeSequence(bytes, CBOR_OPTIONS)];
  } catch {
    return [];
  }
}

function signalsIn(map: unknown): AppleSignals {
  if (!isCborMap(map)) return NO_SIGNALS;
  return { category: categoryOf(map.get(CATEGORY)), bundle_version: versionOf(map.get(BUNDLE_VERSION)) };
}

function categoryOf(value: unknown): number | null {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes.length === CATEGORY_BYTES ? bytes.readUInt32LE() : null;
  const isNumber = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_CATEGORY;
  return isNumber && !Object.is(value, -0) ? value : null;
}

function versionOf(value: unknown): string | null {
  const isVersion = typeof value === 'string' && value !== '' && value.length <= MAX_VERSION_CHARACTERS;
  return isVersion && isStorableText(value) ? value : null;
}
