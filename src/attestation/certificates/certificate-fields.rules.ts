import { type DerElement, elementsOf, splitSigned } from './der.rules.js';

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const SEQUENCE = 0x30;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
/** Serial number, signature algorithm, issuer, validity, subject, public key. Source: RFC 5280 4.1. */
const FIELDS = [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE];
const ALGORITHM_FIELD = 1;
const PUBLIC_KEY_FIELD = 5;

/** The object identifier 2.5.29.19. */
const BASIC_CONSTRAINTS = '551d13';

/** Hashes by the object identifier of ECDSA with them. Source: RFC 5758 3.2. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
]);

/** The bytes of a certificate that are judged as bytes. */
export interface CertificateFields {
  /** SPKI, DER. */
  readonly publicKey: Buffer;
  /** Values by object identifier: its content in hex. */
  readonly extensions: ReadonlyMap<string, Buffer>;
  /** By its basic constraints, it may sign certificates. */
  readonly isAuthority: boolean;
  /** What the signature is over. */
  readonly signed: Buffer;
  /** DER. */
  readonly signature: Buffer;
  readonly signatureHash: string;
}

/**
 * Finds the fields of a certificate that is signed with ECDSA, without a look into them.
 *
 * @param der nothing before it, nothing after it.
 * @throws TypeError for bytes that are no such certificate, or that give one extension twice.
 * Source: RFC 5280 4.1.
 */
export function readFields(der: Buffer): CertificateFields {
  const parts = splitSigned(der);
  const signed = parts && elementsOf(parts.signed)?.[0];
  const elements = signed && elementsOf(signed.content);
  if (parts === undefined || elements === undefined) throw new TypeError('not the DER of a certificate');
  const fields = elements.slice(elements[0]?.tag === VERSION ? 1 : 0);
  if (!FIELDS.every((tag, at) => fields[at]?.tag === tag)) throw new TypeError('fields');
  const algorithm = fields[ALGORITHM_FIELD];
  const publicKey = fields[PUBLIC_KEY_FIELD];
  if (publicKey === undefined || !algorithm?.whole.equals(parts.algorithm)) throw new TypeError('signature algorithm');
  const extensions = extensionsOf(fields.find(({ tag }) => tag === EXTENSIONS));
  return {
    publicKey: publicKey.whole,
    extensions,
    isAuthority: isAuthority(extensions.get(BASIC_CONSTRAINTS)),
    signed: parts.signed,
    signature: parts.signature,
    signatureHash: hashOf(algorithm),
  };
}

function extensionsOf(field: DerElement | undefined): ReadonlyMap<string, Buffer> {
  const extensions = new Map<string, Buffer>();
  const [list] = (field && elementsOf(field.content)) ?? [];
  const listed = list === undefined ? [] : elementsOf(list.content);
  if (listed === undefined) throw new TypeError('extensions');
  for (const extension of listed) {
    const members = elementsOf(extension.content);
    const [id, value] = [members?.at(0), members?.at(-1)];
    if (id?.tag !== OBJECT_ID || value?.tag !== OCTET_STRING) throw new TypeError('extension');
    const name = id.content.toString('hex');
    if (extensions.has(name)) throw new TypeError('extension given twice');
    extensions.set(name, value.content);
  }
  return extensions;
}

/** Absent members mean no; what follows is how far below. */
function isAuthority(constraints: Buffer | undefined): boolean {
  if (constraints === undefined) return false;
  const [list] = elementsOf(constraints) ?? [];
  const [may] = (list && elementsOf(list.content)) ?? [];
  return may?.tag === BOOLEAN && may.content[0] !== 0;
}

function hashOf(algorithm: DerElement): string {
  const [id] = elementsOf(algorithm.content) ?? [];
  const hash = id?.tag === OBJECT_ID ? HASHES.get(id.content.toString('hex')) : undefined;
  if (hash === undefined) throw new TypeError('signature algorithm');
  return hash;
}
