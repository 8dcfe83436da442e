import { remark, write } from './screen.js';

/** One request of the story. */
interface ShownRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  /** A credential, and its name on the screen. */
  readonly bearer?: readonly [name: string, value: string];
  readonly headers?: Readonly<Record<string, string>>;
  /** The expected status; 200 by default. */
  readonly expect?: number;
  /** The part of the response to show; all of it by default. */
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads members of documented responses
  readonly shown?: (answer: any) => unknown;
}

/** Sends a request, shows it and its response, and returns the body of the response. */
// biome-ignore lint/suspicious/noExplicitAny: the demo reads members of documented responses
export type ShownHttp = (path: string, request: ShownRequest) => Promise<any>;

/** Texts longer than this are cut on the screen; proofs and tokens are. */
const MAX_TEXT = 60;
const KEPT_TEXT = 24;

/** Plain HTTP to the service at this address, on the screen. */
export function shownHttp(url: string): ShownHttp {
  return async (path, request) => {
    const { method = 'POST', body, bearer, headers = {}, expect = 200, shown = (answer) => answer } = request;
    const named = bearer === undefined ? {} : { Authorization: `Bearer <${bearer[0]}>` };
    const sent = { ...(body && { 'Content-Type': 'application/json' }), ...headers };
    remark(`${method} ${path}`);
    for (const [name, value] of Object.entries({ ...named, ...sent })) remark(`${name}: ${value}`);
    if (body) showJson(body);
    const response = await fetch(url + path, {
      method,
      headers: { ...sent, ...(bearer && { authorization: `Bearer ${bearer[1]}` }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    write('\n');
    remark(`→ ${response.status}`);
    showJson(shown(answer));
    write('\n');
    if (response.status !== expect) throw new Error(`${method} ${path} answered ${response.status}.`);
    return answer;
  };
}

function showJson(value: unknown): void {
  remark(JSON.stringify(value, (_name, member) => (typeof member === 'string' ? shortened(member) : member), 2));
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, KEPT_TEXT)}… (${text.length} characters)`;
}
