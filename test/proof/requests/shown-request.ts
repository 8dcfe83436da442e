import type { HostileRequest } from './hostile-requests.js';

const MAX_TEXT = 1_500;

/** A request as it can be sent again by hand; what is long is cut. */
export function shownRequest({ index, caller, method, target, headers, body }: HostileRequest): string {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${shown(headers[at + 1] ?? '')}`] : []));
  return [`#${index} by ${caller}: ${method} ${shown(target)}`, ...lines, shownBody(body)].join('\n  ');
}

function shownBody(body: Buffer | undefined): string {
  if (body === undefined) return '(no body)';
  const text = body.toString();
  return Buffer.from(text).equals(body) ? shown(text) : `base64 ${shown(body.toString('base64'))}`;
}

function shown(text: string): string {
  const kept = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
  return JSON.stringify(kept);
}
