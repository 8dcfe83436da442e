import { type DerElement, elementsOf } from './der.rules.js';

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const ENUMERATED = 0x0a;
const SEQUENCE = 0x30;
const SET = 0x31;
const FALSE = 0x00;
const TRUE = 0xff;
const MAX_INTEGER_BYTES = 8;
const SIGN_BIT = 0x80;

/** Bytes that are not the DER of the expected value. The caller names the refusal. */
export class DerMismatch extends TypeError {}

/** The single element of these bytes. @throws DerMismatch */
export function onlyElement(bytes: Buffer): DerElement {
  const [element, ...others] = elementsOf(bytes) ?? [];
  if (element === undefined || others.length > 0) throw new DerMismatch('not one element');
  return element;
}

/** The members of a sequence. @throws DerMismatch */
export function sequenceOf(element: DerElement | undefined): DerElement[] {
  return membersOf(element, SEQUENCE);
}

/** The members of a set, in the order of their bytes. @throws DerMismatch */
export function setOf(element: DerElement | undefined): DerElement[] {
  return membersOf(element, SET);
}

/** @throws DerMismatch */
export function octetsOf(element: DerElement | undefined): Buffer {
  return contentOf(element, OCTET_STRING);
}

/** A whole number, not negative and exactly representable. @throws DerMismatch */
export function integerOf(element: DerElement | undefined): number {
  return wholeNumber(contentOf(element, INTEGER));
}

/** @throws DerMismatch */
export function enumeratedOf(element: DerElement | undefined): number {
  return wholeNumber(contentOf(element, ENUMERATED));
}

/** @throws DerMismatch also for a value that only BER allows. */
export function booleanOf(element: DerElement | undefined): boolean {
  const content = contentOf(element, BOOLEAN);
  const [value] = content;
  if (content.length !== 1 || (value !== FALSE && value !== TRUE)) throw new DerMismatch('not a boolean');
  return value === TRUE;
}

function contentOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new DerMismatch(`not an element of tag ${tag}`);
  return element.content;
}

function membersOf(element: DerElement | undefined, tag: number): DerElement[] {
  const members = elementsOf(contentOf(element, tag));
  if (members === undefined) throw new DerMismatch('not elements');
  return members;
}

function wholeNumber(content: Buffer): number {
  const [first, second = SIGN_BIT] = content;
  const isShortest = first !== 0 || content.length === 1 || second >= SIGN_BIT;
  if (first === undefined || first >= SIGN_BIT || !isShortest || content.length > MAX_INTEGER_BYTES) {
    throw new DerMismatch('not a whole number');
  }
  const value = Number(BigInt(`0x${content.toString('hex')}`));
  if (!Number.isSafeInteger(value)) throw new DerMismatch('a number that is too large');
  return value;
}
