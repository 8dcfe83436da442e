const MAX_CHARACTERS = 64;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/g;
const PLAIN_NAME = /^[\w/@+-]+(?:\.[\w/@+-]+)*$/;

/**
 * Text of a sender in a message for people: in quotes, at most 64 characters of it, and everything but printable ASCII
 * escaped as in JSON, so that it can neither garble nor flood the message.
 */
export function shownText(text: string): string {
  return JSON.stringify(text.slice(0, MAX_CHARACTERS)).replace(NOT_PRINTABLE_ASCII, escaped);
}

/** The same for the name of a member; a short name of letters, digits and the signs of model names stays as it is. */
export function shownName(name: string): string {
  return name.length <= MAX_CHARACTERS && PLAIN_NAME.test(name) ? name : shownText(name);
}

/** One UTF-16 unit. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
