import type { Snippet } from '../dto/app-snippet.response.js';
import type { SnippetCall } from './snippet-target.rules.js';

const KEY_NOTE = 'APP_KEY is a key of the application; it belongs on a server, never in an app that people install.';
const TOKEN_NOTE =
  'GATEWAY_TOKEN is a token that a device got from auth/token; it is valid for an hour. On the device itself, use swift.';
const EXCHANGED_NOTE =
  'GATEWAY_TOKEN is what POST auth/token answers to the application’s key and the user’s identity token; it is valid for an hour.';

/** The call with curl, for a POSIX shell. */
export function shellSnippet({ origin, appId, authentication, target }: SnippetCall): Snippet {
  const { credential, headers, note } = credentialOf(authentication);
  const all = [
    `"Authorization: Bearer $${credential}"`,
    ...headers,
    ...target.headers.map(([name, value]) => quoted(`${name}: ${value}`)),
  ];
  const lines = [
    `curl -sS ${quoted(`${origin}/v1/apps/${appId}/${target.path}`)}`,
    ...all.map((header) => `-H ${header}`),
    ...(target.body === undefined
      ? ['-F file=@audio.m4a']
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(target.body))}`]),
  ];
  return { language: 'shell', snippet: `${lines.join(' \\\n  ')}\n`, notes: [note, ...target.notes] };
}

function credentialOf(authentication: SnippetCall['authentication']): {
  readonly credential: string;
  readonly headers: readonly string[];
  readonly note: string;
} {
  const version = quoted('X-App-Version: 1.0.0');
  if (authentication.type !== 'api_key') {
    return { credential: 'GATEWAY_TOKEN', headers: [version], note: TOKEN_NOTE };
  }
  const user = authentication.end_user;
  if (user?.source === 'issuer') return { credential: 'GATEWAY_TOKEN', headers: [version], note: EXCHANGED_NOTE };
  const headers = user === undefined ? [] : [quoted(`${user.header}: user-1`)];
  return { credential: 'APP_KEY', headers, note: KEY_NOTE };
}

/** A text as one word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
