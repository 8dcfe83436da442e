const MAX_CHARACTERS = 64;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/g;
const PLAIN_NAME = /^[\w/@+-]+(?:\.[\w/@+-]+)*$/;

/**
 * Quotes client text for a message: at most 64 characters, with everything but printable ASCII escaped as in JSON, so
 * that it can neither garble nor flood the message.
 */
export function displayText(text: string): string {
  return JSON.stringify(text.slice(0, MAX_CHARACTERS)).replace(NOT_PRINTABLE_ASCII, escaped);
}

/**
 * As {@link displayText} for a member name; a short name of letters, digits and the punctuation of model names is
 * unchanged.
 */
export function shownName(name: string): string {
  return name.length <= MAX_CHARACTERS && PLAIN_NAME.test(name) ? name : displayText(name);
}

/** @param unit one UTF-16 code unit. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
