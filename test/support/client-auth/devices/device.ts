import 'reflect-metadata';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PublicKey,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { encode } from 'cbor2';

const DAY_MS = 86_400_000;
const ROOT_NAME = 'CN=Simulated Attestation Root CA, O=Simulated Vendor';
const INTERMEDIATE_NAME = 'CN=Simulated Attestation CA 1, O=Simulated Vendor';
const P384 = { name: 'ECDSA', namedCurve: 'P-384' };
const NONCE_EXTENSION = '1.2.840.113635.100.8.2';
/** SEQUENCE { [1] { OCTET STRING of 32 bytes } } without the bytes, as genuine devices send it. */
const NONCE_HEADER = Buffer.from('3024a1220420', 'hex');
const AAGUIDS = {
  production: Buffer.concat([Buffer.from('appattest'), Buffer.alloc(7)]),
  development: Buffer.from('appattestdevelop'),
};
/** Credential data follows; genuine devices set this flag in assertions too. */
const ATTESTED_FLAGS = 0x40;

const FLAGS_AT = 32;
const EXTENSION_FLAG = 0x80;
const ASSERTED_BYTES = 37;
/** Up to the key. */
const ATTESTED_BYTES = 87;

/** The application that a device claims to run. */
interface DeviceApp {
  readonly teamId: string;
  readonly bundleId: string;
}

interface AttestationRequest extends DeviceApp {
  readonly challenge: string;
  readonly environment?: keyof typeof AAGUIDS;
}

interface AssertionRequest extends DeviceApp {
  readonly appId: string;
  readonly challenge: string;
}

/** The members of a CBOR map, free to be changed before they are encoded. */
type CborMembers = Map<unknown, unknown>;

/** Values of a forged or invalid leaf certificate. */
interface LeafChanges {
  readonly issuer?: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly isAuthority?: boolean;
  /** SPKI, DER. */
  readonly publicKey?: Buffer;
  readonly signedBy?: webcrypto.CryptoKey;
  /** Value of the nonce's extension; null leaves it out. */
  readonly nonceExtension?: (value: Buffer) => Buffer | null;
  /** Further ones. */
  readonly extensions?: readonly { readonly oid: string; readonly value: Buffer }[];
}

/** All possible flaws of a device; without any it is genuine. */
export interface AttestationChanges {
  /** The `clientDataHash` that the device was given. */
  readonly clientDataHash?: Buffer;
  readonly leaf?: LeafChanges;
  /** Certified like everything else: the nonce is computed from the changed bytes. */
  readonly authenticatorData?: (bytes: Buffer) => Buffer;
  readonly certificates?: (certificates: readonly Buffer[]) => readonly unknown[];
  readonly statement?: (members: CborMembers) => void;
  readonly members?: (members: CborMembers) => void;
  readonly bytes?: (cbor: Buffer) => Buffer;
}

/** All possible flaws of an assertion. */
export interface AssertionChanges {
  /** The text that is hashed. */
  readonly clientData?: string | Buffer;
  readonly counter?: number;
  /** Signed like everything else. */
  readonly authenticatorData?: (bytes: Buffer) => Buffer;
  readonly signature?: (der: Buffer) => Buffer;
  readonly members?: (members: CborMembers) => void;
  readonly bytes?: (cbor: Buffer) => Buffer;
}

/** How a vendor may differ from the genuine one. */
interface VendorChanges {
  readonly rootName?: string;
  readonly intermediateName?: string;
  readonly intermediateIsAuthority?: boolean;
  readonly rootNotAfter?: Date;
  readonly intermediateNotAfter?: Date;
}

/** A vendor of devices: with its own root and an authority below it that certifies keys. */
export class DeviceVendor {
  readonly root: X509Certificate;
  readonly intermediate: X509Certificate;
  readonly intermediateKey: webcrypto.CryptoKey;
  readonly rootKey: webcrypto.CryptoKey;

  private constructor(
    root: X509Certificate,
    intermediate: X509Certificate,
    keys: { readonly intermediate: webcrypto.CryptoKey; readonly root: webcrypto.CryptoKey },
  ) {
    this.root = root;
    this.intermediate = intermediate;
    this.intermediateKey = keys.intermediate;
    this.rootKey = keys.root;
  }

  static async create(changes: VendorChanges = {}): Promise<DeviceVendor> {
    const { rootName = ROOT_NAME, intermediateName = INTERMEDIATE_NAME, intermediateIsAuthority = true } = changes;
    const rootKeys = await webcrypto.subtle.generateKey(P384, true, ['sign', 'verify']);
    const keys = await webcrypto.subtle.generateKey(P384, true, ['sign', 'verify']);
    const ofAuthority = {
      issuer: rootName,
      notBefore: new Date('2020-03-18T00:00:00Z'),
      signingKey: rootKeys.privateKey,
    };
    const root = await certificate({
      ...{ ...ofAuthority, subject: rootName, publicKey: rootKeys.publicKey },
      notAfter: changes.rootNotAfter ?? new Date('2045-03-15T00:00:00Z'),
      extensions: [new BasicConstraintsExtension(true, undefined, true)],
    });
    const pathLength = intermediateIsAuthority ? 0 : undefined;
    const intermediate = await certificate({
      ...{ ...ofAuthority, subject: intermediateName, publicKey: keys.publicKey },
      notAfter: changes.intermediateNotAfter ?? new Date('2040-03-13T00:00:00Z'),
      extensions: [new BasicConstraintsExtension(intermediateIsAuthority, pathLength, true)],
    });
    return new DeviceVendor(root, intermediate, { intermediate: keys.privateKey, root: rootKeys.privateKey });
  }

  /** For `APP_ATTEST_ROOT_CA_FILE`. */
  get rootPem(): string {
    return this.root.toString('pem');
  }

  /** A device with a fresh key. */
  device(): Device {
    return new Device(this);
  }
}

/** One installation of an application: a P-256 key that never leaves it and counts its signatures. */
export class Device {
  /** Base64 of the hash of the public key, as clients send it. */
  readonly keyId: string;
  counter = 0;
  private readonly vendor: DeviceVendor;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(vendor: DeviceVendor) {
    this.vendor = vendor;
    this.keyId = keyIdentifier(this.keys.publicKey).toString('base64');
  }

  /** Base64 of an attestation of this device's key. */
  async attest(request: AttestationRequest, changes: AttestationChanges = {}): Promise<string> {
    const unchanged = attestedData(request, keyIdentifier(this.keys.publicKey));
    const authData = changes.authenticatorData?.(unchanged) ?? unchanged;
    const clientDataHash = changes.clientDataHash ?? digest(Buffer.from(request.challenge, 'base64url'));
    const leaf = await this.certify(digest(authData, clientDataHash), changes.leaf);
    const genuine = [leaf, this.vendor.intermediate].map(({ rawData }) => Buffer.from(rawData));
    const statement: CborMembers = new Map<unknown, unknown>([
      ['x5c', changes.certificates?.(genuine) ?? genuine],
      ['receipt', randomBytes(300)],
    ]);
    changes.statement?.(statement);
    const members: CborMembers = new Map<unknown, unknown>([
      ['fmt', 'apple-appattest'],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    return finished(members, changes);
  }

  /** Base64 of an assertion; increments the counter. */
  assert({ appId, challenge, teamId, bundleId }: AssertionRequest, changes: AssertionChanges = {}): string {
    this.counter = changes.counter ?? this.counter + 1;
    const unchanged = authenticatorHead({ teamId, bundleId }, ATTESTED_FLAGS, this.counter);
    const authenticatorData = changes.authenticatorData?.(unchanged) ?? unchanged;
    const clientData = changes.clientData ?? `{"app":"${appId}","challenge":"${challenge}","key_id":"${this.keyId}"}`;
    const nonce = digest(authenticatorData, digest(clientData));
    const signature = sign('sha256', nonce, this.keys.privateKey);
    const members: CborMembers = new Map<unknown, unknown>([
      ['signature', changes.signature?.(signature) ?? signature],
      ['authenticatorData', authenticatorData],
    ]);
    return finished(members, changes);
  }

  private certify(nonce: Buffer, changes: LeafChanges = {}): Promise<X509Certificate> {
    const { publicKey = spkiOf(this.keys.publicKey), nonceExtension = (value) => value, extensions = [] } = changes;
    const value = nonceExtension(Buffer.concat([NONCE_HEADER, nonce]));
    return certificate({
      subject: `CN=${keyIdentifier(this.keys.publicKey).toString('hex')}, OU=Simulated Certification`,
      issuer: changes.issuer ?? this.vendor.intermediate.subject,
      notBefore: changes.notBefore ?? new Date(Date.now() - DAY_MS),
      notAfter: changes.notAfter ?? new Date(Date.now() + 2 * DAY_MS),
      publicKey: new PublicKey(publicKey),
      signingKey: changes.signedBy ?? this.vendor.intermediateKey,
      extensions: [
        new BasicConstraintsExtension(changes.isAuthority ?? false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        ...(value === null ? [] : [new Extension(NONCE_EXTENSION, false, value)]),
        ...extensions.map((extension) => new Extension(extension.oid, false, extension.value)),
      ],
    });
  }
}

interface CertificatePlan {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: webcrypto.CryptoKey | PublicKey;
  readonly signingKey: webcrypto.CryptoKey;
  readonly extensions: Extension[];
}

function certificate(plan: CertificatePlan): Promise<X509Certificate> {
  return X509CertificateGenerator.create({
    ...plan,
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-384' },
  });
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' });
}

/** The hash of the point in uncompressed form. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return digest(Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'));
}

function authenticatorHead({ teamId, bundleId }: DeviceApp, flags: number, counter: number): Buffer {
  const counterBytes = Buffer.alloc(4);
  counterBytes.writeUInt32BE(counter);
  return Buffer.concat([digest(`${teamId}.${bundleId}`), Buffer.of(flags), counterBytes]);
}

/** Ends like genuine ones: with the public key, and with bytes that no flag announces. */
function attestedData({ environment = 'production', ...app }: AttestationRequest, credentialId: Buffer): Buffer {
  return Buffer.concat([
    authenticatorHead(app, ATTESTED_FLAGS, 0),
    AAGUIDS[environment],
    Buffer.of(0, credentialId.length),
    credentialId,
    encode(new Map([[1, 2]])),
    encode(new Map([['simulated', true]])),
  ]);
}

/** What a device with iOS or macOS 27 signs in addition to its proof. */
export interface AppleSignals {
  readonly category?: number;
  readonly version?: string;
}

/**
 * Adds signals after the key of an attestation, or the counter of an assertion, and sets the flag that announces them.
 */
export function withSignals({ category, version }: AppleSignals, isAnnounced = true): (bytes: Buffer) => Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(category ?? 0);
  const members = new Map<string, unknown>([
    ...(category === undefined ? [] : [['apple_validation_category_01', new Uint8Array(number)] as const]),
    ...(version === undefined ? [] : [['apple_bundle_version_01', version] as const]),
    ['code_directory', true],
  ]);
  return (bytes) => {
    const isAttestation = bytes.length > ATTESTED_BYTES;
    const head = Buffer.from(bytes.subarray(0, isAttestation ? ATTESTED_BYTES : ASSERTED_BYTES));
    head[FLAGS_AT] = (head[FLAGS_AT] ?? 0) | (isAnnounced ? EXTENSION_FLAG : 0);
    return Buffer.concat([head, ...(isAttestation ? [encode(new Map([[1, 2]]))] : []), encode(members)]);
  };
}

function finished(members: CborMembers, changes: Pick<AttestationChanges, 'members' | 'bytes'>): string {
  changes.members?.(members);
  const cbor = Buffer.from(encode(withPlainBytes(members)));
  return (changes.bytes?.(cbor) ?? cbor).toString('base64');
}

/** The encoder writes a `Buffer` as its JSON form; a plain array of bytes becomes a byte string. */
function withPlainBytes(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(withPlainBytes);
  return value instanceof Map ? new Map([...value].map(([key, inner]) => [key, withPlainBytes(inner)])) : value;
}

function digest(...pieces: readonly (Buffer | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
