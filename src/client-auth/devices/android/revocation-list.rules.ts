import { isJsonObject } from '../../../common/json-object.js';

const STATUSES = ['REVOKED', 'SUSPENDED'] as const;
const SERIAL = /^[0-9a-f]{1,64}$/;
const DIGITS = /^\d+$/;

/** A revoked serial number, in lower-case hex without leading zeros. */
export interface RevokedSerial {
  readonly serial: string;
  readonly status: (typeof STATUSES)[number];
}

/**
 * Reads a status list. Its older entries are decimal, so an entry of digits only counts as both numbers. Entries with
 * another status are skipped: they revoke nothing.
 *
 * @returns each number once; `undefined` when any part is malformed, so that no partial list replaces a complete one.
 * Source: docs/reference/security.md#revocation-of-android-keys.
 */
export function readRevocationList(body: Buffer): readonly RevokedSerial[] | undefined {
  const list = parsed(body);
  if (!isJsonObject(list) || !isJsonObject(list.entries)) return undefined;
  const revoked = new Map<string, RevokedSerial>();
  for (const [written, entry] of Object.entries(list.entries)) {
    const lowered = written.toLowerCase();
    if (!SERIAL.test(lowered) || !isJsonObject(entry) || typeof entry.status !== 'string') return undefined;
    const status = STATUSES.find((known) => known === entry.status);
    if (status === undefined) continue;
    for (const serial of numbersOf(lowered)) revoked.set(serial, { serial, status });
  }
  return [...revoked.values()];
}

function numbersOf(written: string): readonly string[] {
  const asHex = BigInt(`0x${written}`).toString(16);
  return DIGITS.test(written) ? [asHex, BigInt(written).toString(16)] : [asHex];
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
