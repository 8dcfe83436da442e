/** Codes of a set. Source: docs/reference/security.md#sign-in. */
export const CODES = 10;
/** Base36 characters after the position: 77 bits. */
export const CODE_RANDOM_LENGTH = 15;
/** Characters of a code with blanks and hyphens, as people type it. */
export const MAX_CODE = 64;

const CODE = /^\d[0-9a-z]{15}$/;

/** A code as a person typed it. */
export interface TypedCode {
  /** Which code of the set it is, so that one hash is compared and not ten. */
  readonly position: number;
  /** In the form that is hashed. */
  readonly plain: string;
}

/** A code as it is shown: in groups of four. */
export function shownCode(plain: string): string {
  return plain.replace(/(.{4})(?!$)/g, '$1-');
}

/** Reads a code with any blanks and hyphens, in any case. @returns `undefined` where it cannot be one. */
export function readCode(typed: string): TypedCode | undefined {
  const plain = typed.replace(/[\s-]/g, '').toLowerCase();
  return CODE.test(plain) ? { position: Number(plain[0]), plain } : undefined;
}
