/** Browsers in the order in which they are recognised: each later one is named by the earlier ones too. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const;

const SYSTEMS = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X|Macintosh/],
  ['Linux', /Linux/],
] as const;

/**
 * A readable name of a browser, such as `Firefox on Linux`.
 *
 * @param userAgent the header `User-Agent`; null when the browser sent none.
 */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return 'An unknown browser';
  const [browser] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? [userAgent.split(/[/ ]/, 1)[0]];
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent));
  return system === undefined ? `${browser}` : `${browser} on ${system[0]}`;
}
