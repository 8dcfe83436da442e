import { type DerElement, elementsOf } from './der.rules.js';
import { DerMismatch, octetsOf, onlyElement, sequenceOf, setOf } from './der-values.rules.js';

const INTEGER = 0x02;
const OBJECT_ID = 0x06;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const SEQUENCE = 0x30;
/** Serial number, algorithm, issuer, validity, subject, key. */
const MANDATORY = 6;

/** One part of a name. */
interface NameAttribute {
  /** The content of the object identifier, in hex. */
  readonly type: string;
  /** The bytes of its text, read as UTF-8. */
  readonly value: string;
}

interface CertificateExtension {
  /** The content of the object identifier, in hex. */
  readonly id: string;
  readonly value: Buffer;
}

/** The fields of a certificate that the platform's reader does not expose as they were signed. */
export interface CertificateFields {
  /** Lower-case hex without leading zeros. */
  readonly serial: string;
  /** DER. */
  readonly issuer: Buffer;
  /** DER, for {@link readName}. */
  readonly subject: Buffer;
  /** SPKI, DER. */
  readonly publicKey: Buffer;
  readonly extensions: readonly CertificateExtension[];
}

/**
 * Reads the fields of one certificate without importing its key, so that hostile ones are cheap.
 *
 * @throws DerMismatch
 * Source: RFC 5280 4.1.
 */
export function readCertificateFields(der: Buffer): CertificateFields {
  const [signed] = sequenceOf(onlyElement(der));
  const members = sequenceOf(signed);
  const fields = members[0]?.tag === VERSION ? members.slice(1) : members;
  const [serial, , issuer, , subject, publicKey] = fields;
  if (serial?.tag !== INTEGER || issuer === undefined || subject?.tag !== SEQUENCE || publicKey === undefined) {
    throw new DerMismatch('not a certificate');
  }
  const extensions = fields.slice(MANDATORY).find(({ tag }) => tag === EXTENSIONS);
  return {
    serial: serialOf(serial.content),
    issuer: issuer.content,
    subject: subject.content,
    publicKey: encodedOf(publicKey, fields[MANDATORY - 2]),
    extensions: extensions === undefined ? [] : sequenceOf(onlyElement(extensions.content)).map(extensionOf),
  };
}

/**
 * The parts of a name.
 *
 * @throws DerMismatch
 */
export function readName(name: Buffer): NameAttribute[] {
  const parts = elementsOf(name);
  if (parts === undefined) throw new DerMismatch('not a name');
  return parts.flatMap((part) =>
    setOf(part).map((attribute) => {
      const [type, value] = sequenceOf(attribute);
      return { type: idOf(type), value: value?.content.toString('utf8') ?? '' };
    }),
  );
}

/** A serial number as status lists write it: lower-case hex without leading zeros. */
function serialOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^0+(?=.)/, '');
}

function extensionOf(element: DerElement): CertificateExtension {
  const members = sequenceOf(element);
  return { id: idOf(members[0]), value: octetsOf(members.at(-1)) };
}

function idOf(element: DerElement | undefined): string {
  if (element?.tag !== OBJECT_ID) throw new DerMismatch('not an object identifier');
  return element.content.toString('hex');
}

/** The whole element, which follows `before`. */
function encodedOf(element: DerElement, before: DerElement | undefined): Buffer {
  const { rest } = before ?? element;
  if (elementsOf(element.content) === undefined) throw new DerMismatch('not elements');
  return rest.subarray(0, rest.length - element.rest.length);
}
