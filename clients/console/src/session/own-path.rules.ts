/**
 * Where to go after signing in: a path of this console, else its first page. A text that a browser reads as another
 * origin, such as `//evil.example` or `/\evil.example`, is not a path.
 */
export function ownPath(sent: string | null): string {
  return sent !== null && /^\/(?![/\\])[^\\\t\r\n]*$/.test(sent) ? sent : '/';
}
