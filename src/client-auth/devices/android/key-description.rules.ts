import { taggedElementsOf } from '../certificates/der.rules.js';
import {
  booleanOf,
  DerMismatch,
  enumeratedOf,
  integerOf,
  octetsOf,
  onlyElement,
  sequenceOf,
  setOf,
} from '../certificates/der-values.rules.js';
import { proofRefused } from '../proof-refusal.js';

const MEMBERS = 8;
const SEQUENCE = 0x30;
/** Context-specific and constructed. */
const EXPLICIT = 0xa0;
const CLASS_AND_FORM = 0xe0;

const PURPOSE = 1;
const ALGORITHM = 2;
const CURVE = 10;
const ORIGIN = 702;
const ROOT_OF_TRUST = 704;
const OS_PATCH_LEVEL = 706;
const APPLICATION_ID = 709;

/** The index of the value is its number in the extension. */
const BOOT_STATES = ['verified', 'self_signed', 'unverified', 'failed'] as const;

export type BootState = (typeof BOOT_STATES)[number];

interface RootOfTrust {
  readonly isLocked: boolean;
  readonly bootState: BootState;
}

/** The applications that may use a key: several if they share a system user id. */
export interface AttestedApplication {
  readonly packages: readonly { readonly name: string; readonly versionCode: number }[];
  /** SHA-256 of the signing certificates, in hex. */
  readonly signingCertificates: readonly string[];
}

/** The facts of a key from the device's hardware; a member is `undefined` if it is absent. */
export interface KeyDescription {
  /** 0 software, 1 trusted environment, 2 StrongBox. */
  readonly attestationLevel: number;
  readonly keyMintLevel: number;
  readonly challenge: Buffer;
  /** For {@link readApplication}. */
  readonly applicationId: Buffer | undefined;
  readonly purposes: readonly number[];
  readonly algorithm: number | undefined;
  readonly curve: number | undefined;
  readonly origin: number | undefined;
  readonly rootOfTrust: RootOfTrust | undefined;
  /** YYYYMM. */
  readonly osPatch: number | undefined;
}

/**
 * Reads the value of the attestation extension. List members that no rule needs are skipped, including those of later
 * versions.
 *
 * @throws attest_failed
 * Source: docs/reference/security.md#android-key-attestation.
 */
export function readKeyDescription(value: Buffer): KeyDescription {
  return readOrRefuse('key_description_invalid', () => describedKey(value));
}

/** Reads the value of the application's id. @throws attest_failed */
export function readApplication(bytes: Buffer): AttestedApplication {
  return readOrRefuse('application_id_invalid', () => describedApplication(bytes));
}

function readOrRefuse<T>(flaw: 'key_description_invalid' | 'application_id_invalid', read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerMismatch) throw proofRefused(flaw, error);
    throw error;
  }
}

function describedKey(value: Buffer): KeyDescription {
  const outer = taggedElementsOf(value) ?? [];
  const members = outer.length === 1 && outer[0]?.tag === SEQUENCE ? taggedElementsOf(outer[0].content) : undefined;
  if (members?.length !== MEMBERS) throw new DerMismatch('not a key description');
  const [version, level, keyMintVersion, keyMintLevel, challenge, uniqueId, software, hardware] = members;
  if (integerOf(version) < 1) throw new DerMismatch('not a version');
  integerOf(keyMintVersion);
  octetsOf(uniqueId);
  const byDevice = authorizationsOf(hardware?.tag, hardware?.content);
  const applicationId = authorizationsOf(software?.tag, software?.content).get(APPLICATION_ID);
  const numberAt = (tag: number) => optional(byDevice.get(tag), (bytes) => integerOf(onlyElement(bytes)));
  return {
    attestationLevel: enumeratedOf(level),
    keyMintLevel: enumeratedOf(keyMintLevel),
    challenge: octetsOf(challenge),
    applicationId: optional(applicationId, (bytes) => octetsOf(onlyElement(bytes))),
    purposes: optional(byDevice.get(PURPOSE), (bytes) => setOf(onlyElement(bytes)).map(integerOf)) ?? [],
    algorithm: numberAt(ALGORITHM),
    curve: numberAt(CURVE),
    origin: numberAt(ORIGIN),
    rootOfTrust: optional(byDevice.get(ROOT_OF_TRUST), readRootOfTrust),
    osPatch: numberAt(OS_PATCH_LEVEL),
  };
}

/** The contents by tag number, each in an explicit tag; the numbers ascend. */
function authorizationsOf(tag: number | undefined, content: Buffer | undefined): ReadonlyMap<number, Buffer> {
  const elements = tag === SEQUENCE && content !== undefined ? taggedElementsOf(content) : undefined;
  if (elements === undefined) throw new DerMismatch('not a list of authorizations');
  const found = new Map<number, Buffer>();
  let last = 0;
  for (const element of elements) {
    const isNext = (element.tag & CLASS_AND_FORM) === EXPLICIT && element.number > last;
    if (!isNext) throw new DerMismatch('not in ascending order');
    last = element.number;
    found.set(element.number, element.content);
  }
  return found;
}

function readRootOfTrust(bytes: Buffer): RootOfTrust {
  const members = sequenceOf(onlyElement(bytes));
  const [bootKey, isLocked, state, bootHash] = members;
  octetsOf(bootKey);
  if (bootHash !== undefined) octetsOf(bootHash);
  const bootState = BOOT_STATES[enumeratedOf(state)];
  if (members.length > 4 || bootState === undefined) throw new DerMismatch('not a root of trust');
  return { isLocked: booleanOf(isLocked), bootState };
}

function describedApplication(bytes: Buffer): AttestedApplication {
  const [packages, digests, ...others] = sequenceOf(onlyElement(bytes));
  if (others.length > 0) throw new DerMismatch('not an application');
  return {
    packages: setOf(packages).map((one) => {
      const [name, version, ...further] = sequenceOf(one);
      if (further.length > 0) throw new DerMismatch('not a package');
      return { name: octetsOf(name).toString('utf8'), versionCode: integerOf(version) };
    }),
    signingCertificates: setOf(digests).map((digest) => octetsOf(digest).toString('hex')),
  };
}

function optional<T>(bytes: Buffer | undefined, read: (bytes: Buffer) => T): T | undefined {
  return bytes === undefined ? undefined : read(bytes);
}
