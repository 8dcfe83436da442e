import { isStorableText } from '../common/fields/config-values.js';

/** The groups that a call belongs to: values by the names of `limits.groups`. */
export type CallGroups = Readonly<Record<string, string>>;

const MAX_CHARACTERS = 128;
/** Control characters, and blanks at an end. */
const UNUSABLE = /[\p{Cc}\p{Cf}]|^\s|\s$/u;

/** Whether a value of a header or claim can name a group. Source: docs/reference/accounting.md#groups-and-runs. */
export function isGroupValue(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_CHARACTERS) return false;
  return isStorableText(value) && !UNUSABLE.test(value);
}

/** Whether a value, such as a claim of a gateway token, names groups. */
export function isCallGroups(value: unknown): value is CallGroups {
  return typeof value === 'object' && value !== null && Object.values(value).every(isGroupValue);
}
