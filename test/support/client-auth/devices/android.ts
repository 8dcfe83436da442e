import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { encode } from 'cbor2';
import {
  bits,
  boolean,
  der,
  enumerated,
  explicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  time,
  utf8,
} from './der-writer.js';

const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302'));
const BASIC_CONSTRAINTS = '551d13';
const ATTESTATION = '2b06010401d679020111';
const PROVISIONING_INFO = '2b06010401d67902011e';
const NAME_PARTS = { CN: '550403', serialNumber: '550405', O: '55040a', title: '55040c' };
const FROM = new Date('2020-01-01T00:00:00Z');
const TO = new Date('2040-01-01T00:00:00Z');

export const PACKAGE_NAME = 'com.example.app';
/** SHA-256 of the simulated app's signing certificate. */
export const SIGNING_CERTIFICATE = createHash('sha256').update('signing certificate').digest('hex');

/** `key_attestation` of an application for the simulated devices. */
export function keyAttestation(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { package_names: [PACKAGE_NAME], signing_certificates: [SIGNING_CERTIFICATE], ...changes };
}

type NameParts = Partial<Record<keyof typeof NAME_PARTS, string>>;

export interface CertificatePlan {
  readonly subject: NameParts;
  readonly issuer: NameParts;
  readonly publicKey: KeyObject;
  readonly signedBy: KeyObject;
  readonly serial?: bigint;
  readonly from?: Date;
  readonly to?: Date;
  readonly isAuthority?: boolean;
  readonly extensions?: readonly { readonly id: string; readonly value: Buffer }[];
}

/** A certificate in DER. */
export function certificate(plan: CertificatePlan): Buffer {
  const { serial = 1n, from = FROM, to = TO, isAuthority = true, extensions = [] } = plan;
  const constraints = isAuthority ? [{ id: BASIC_CONSTRAINTS, value: sequence(boolean(true)) }] : [];
  const all = [...constraints, ...extensions].map(({ id, value }) => sequence(objectId(id), octets(value)));
  const signed = sequence(
    ...[der(0xa0, integer(2)), integer(serial), ECDSA_SHA256, name(plan.issuer)],
    ...[sequence(time(from), time(to)), name(plan.subject)],
    plan.publicKey.export({ format: 'der', type: 'spki' }),
    ...(all.length === 0 ? [] : [der(0xa3, sequence(...all))]),
  );
  return sequence(signed, ECDSA_SHA256, bits(sign('sha256', signed, plan.signedBy)));
}

function name(parts: NameParts): Buffer {
  const members = Object.entries(parts).map(([part, value]) =>
    set(sequence(objectId(NAME_PARTS[part as keyof NameParts]), utf8(value))),
  );
  return sequence(...members);
}

/** The content of a key's attestation; each member may be wrong. */
export interface Description {
  version: Buffer;
  level: Buffer;
  keyMintVersion: Buffer;
  keyMintLevel: Buffer;
  challenge: Buffer;
  uniqueId: Buffer;
  software: Record<number, Buffer>;
  hardware: Record<number, Buffer>;
}

/** The value of tag 709. */
export function applicationId(packages: Readonly<Record<string, number | bigint>>, hashes: readonly string[]): Buffer {
  const ofPackages = Object.entries(packages).map(([id, version]) => sequence(octets(id), integer(version)));
  return octets(sequence(set(...ofPackages), set(...hashes.map((hash) => octets(Buffer.from(hash, 'hex'))))));
}

/** The value of tag 704. */
export function rootOfTrust({ locked = boolean(true), state = 0 } = {}): Buffer {
  return sequence(octets(Buffer.alloc(32)), locked, enumerated(state), octets(Buffer.alloc(32, 1)));
}

function genuine(challenge: Buffer, level: number): Description {
  return {
    ...{ version: integer(300), level: enumerated(level), keyMintVersion: integer(300) },
    ...{ keyMintLevel: enumerated(level), challenge: octets(challenge), uniqueId: octets('') },
    software: {
      701: integer(1_758_900_646_327n),
      709: applicationId({ [PACKAGE_NAME]: 42 }, [SIGNING_CERTIFICATE]),
    },
    hardware: {
      ...{ 1: set(integer(2), integer(3)), 2: integer(3), 3: integer(256), 5: set(integer(4)), 10: integer(1) },
      ...{ 503: der(0x05), 702: integer(0), 704: rootOfTrust(), 705: integer(160_000), 706: integer(202_511) },
      ...{ 710: octets('example'), 718: integer(20_251_105), 719: integer(20_251_105) },
    },
  };
}

function encoded(description: Description): Buffer {
  const { version, level, keyMintVersion, keyMintLevel, challenge, uniqueId, software, hardware } = description;
  const list = (tags: Record<number, Buffer>) =>
    sequence(...Object.entries(tags).map(([tag, value]) => explicit(Number(tag), value)));
  return sequence(
    ...[version, level, keyMintVersion, keyMintLevel, challenge, uniqueId],
    ...[list(software), list(hardware)],
  );
}

/** All possible flaws of an attestation; without any it is genuine. */
export interface AndroidChanges {
  readonly description?: (description: Description) => void;
  /** Value of the extension; null leaves it out. */
  readonly extension?: (value: Buffer) => Buffer | null;
  readonly leaf?: Partial<CertificatePlan>;
  /** DER, leaf first. */
  readonly chain?: (certificates: Buffer[]) => Buffer[];
}

/** Options of a vendor. */
export interface AndroidVendorPlan {
  readonly provisioning?: 'factory' | 'remote' | 'unknown';
  readonly level?: 'tee' | 'strongbox';
  readonly intermediates?: Partial<CertificatePlan>;
  readonly rootTo?: Date;
}

/** A vendor of Android devices: with its own root and the authorities below it. */
export class AndroidVendor {
  readonly rootKeys = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  readonly attesting = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** DER: the attesting certificate first, the root last. */
  readonly authorities: readonly Buffer[];
  readonly attestingName: NameParts;
  readonly level: 1 | 2;

  constructor({ provisioning = 'remote', level = 'tee', intermediates = {}, rootTo = TO }: AndroidVendorPlan = {}) {
    this.level = level === 'tee' ? 1 : 2;
    const mark = level === 'tee' ? 'TEE' : 'StrongBox';
    const middle = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const rootName = { serialNumber: 'f0f0f0f0f0f0f0f0' };
    const names = {
      factory: [
        { title: mark, serialNumber: '01ab' },
        { title: mark, serialNumber: '02cd' },
      ],
      remote: [
        { O: mark, CN: '01ab' },
        { O: 'Google LLC', CN: 'Droid CA2' },
      ],
      unknown: [{ O: mark, CN: '01ab' }, { CN: 'Somebody' }],
    }[provisioning];
    const [attestingName = {}, middleName = {}] = names;
    this.attestingName = attestingName;
    const info = Buffer.from(
      encode(
        new Map<unknown, unknown>([
          [1, 64],
          [2, true],
          [3, 'Google'],
        ]),
      ),
    );
    this.authorities = [
      certificate({
        ...{ subject: attestingName, issuer: middleName, publicKey: this.attesting.publicKey },
        ...{ signedBy: middle.privateKey, serial: 0x0ab1n, isAuthority: provisioning !== 'factory' },
        extensions: [{ id: PROVISIONING_INFO, value: info }],
        ...intermediates,
      }),
      certificate({
        ...{ subject: middleName, issuer: rootName, publicKey: middle.publicKey },
        ...{ signedBy: this.rootKeys.privateKey, serial: 0x0cd2n },
      }),
      certificate({
        ...{ subject: rootName, issuer: rootName, publicKey: this.rootKeys.publicKey },
        ...{ signedBy: this.rootKeys.privateKey, serial: 0x0ef3n, to: rootTo },
      }),
    ];
  }

  /** For `ANDROID_ATTESTATION_ROOTS_FILE`. */
  get rootPem(): string {
    const base64 = this.authorities.at(-1)?.toString('base64') ?? '';
    return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  }

  device(): AndroidDevice {
    return new AndroidDevice(this);
  }
}

/** One installation on a device: a P-256 key that never leaves it. */
export class AndroidDevice {
  readonly keyId: string;
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private readonly vendor: AndroidVendor;

  constructor(vendor: AndroidVendor) {
    this.vendor = vendor;
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
    this.keyId = createHash('sha256').update(Buffer.concat(point)).digest('base64');
  }

  /** The chain of a new key: base64 of DER, leaf first. @param challenge base64url, as issued. */
  attest(challenge: string, changes: AndroidChanges = {}): string[] {
    return this.chain(challenge, changes).map((one) => one.toString('base64'));
  }

  chain(challenge: string, changes: AndroidChanges = {}): Buffer[] {
    const description = genuine(Buffer.from(challenge, 'base64url'), this.vendor.level);
    changes.description?.(description);
    const unchanged = encoded(description);
    const value = changes.extension === undefined ? unchanged : changes.extension(unchanged);
    const leaf = certificate({
      ...{ subject: { CN: 'Android Keystore Key' }, issuer: this.vendor.attestingName },
      ...{ publicKey: this.keys.publicKey, signedBy: this.vendor.attesting.privateKey },
      ...{ isAuthority: false, from: new Date(0), to: new Date('2048-01-01T00:00:00Z') },
      extensions: value === null ? [] : [{ id: ATTESTATION, value }],
      ...changes.leaf,
    });
    const genuineChain = [leaf, ...this.vendor.authorities];
    return changes.chain?.(genuineChain) ?? genuineChain;
  }

  /** Base64 of a signature of the client data. */
  sign(
    appId: string,
    challenge: string,
    text = `{"app":"${appId}","challenge":"${challenge}","key_id":"${this.keyId}"}`,
  ) {
    return sign('sha256', Buffer.from(text), this.keys.privateKey).toString('base64');
  }
}
