import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import { CLIENT, REDIRECT_URI } from '../../support/consent/oauth-client.js';

/** An answer, or undefined when the instance was killed before it came. */
export type ModelAnswer =
  | { readonly status: number; readonly text: string; readonly body: Record<string, unknown>; readonly code: string }
  | undefined;

/** Sends a request to one of several instances under the host name that they share. */
export type Send = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  options?: {
    readonly headers?: Record<string, string>;
    readonly body?: object;
    readonly form?: Record<string, string>;
  },
) => Promise<ModelAnswer>;

/** How something ended. Every answer that reports an end must report the same one. */
export type End = 'completed' | 'denied' | 'expired';

/** A person with a session and an account. */
export interface Approver {
  readonly cookie: string;
  readonly organizationId: string;
}

/** Sends to an instance; its kill during the call is not a failure. */
export function sendTo(baseUrl: string, host: string): Send {
  return async (method, path, { headers = {}, body, form } = {}) => {
    try {
      const answer = await request(`${baseUrl}${path}`, {
        method,
        headers: {
          host,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
      });
      const text = await answer.body.text();
      const parsed = text.startsWith('{') ? JSON.parse(text) : {};
      const code = typeof parsed.error === 'object' ? parsed.error.code : (parsed.error ?? '');
      const location = answer.headers.location ?? '';
      return { status: answer.statusCode, text: `${text}${location}`, body: parsed, code };
    } catch {
      return undefined;
    }
  };
}

/** The known state of one login or authorization, from all answers so far. */
export abstract class Subject {
  readonly ends = new Set<End>();
  /** Answers that held the key, or the tokens. */
  deliveries = 0;
  /** Its number of steps: their rate is limited. */
  steps = 0;

  abstract readonly name: string;

  /** @throws Error the answer contradicts an earlier one, or is not allowed for the step. */
  learn(step: string, answer: ModelAnswer, allowed: Readonly<Record<string, End | 'pending' | 'nothing'>>): void {
    if (answer === undefined) return;
    const key = answer.code === '' ? String(answer.status) : `${answer.status} ${answer.code}`;
    const told = allowed[key];
    if (told === undefined) throw new Error(`${this.name}: ${step} answered ${key}: ${answer.text}`);
    if (told === 'pending' && this.ends.size > 0) {
      throw new Error(`${this.name}: ${step} finds it pending after it was ${[...this.ends]}`);
    }
    if (told !== 'pending' && told !== 'nothing') this.ends.add(told);
    if (this.ends.size > 1) throw new Error(`${this.name}: after ${step} it is ${[...this.ends].join(' and ')}`);
  }
}

/** A terminal's login. */
export class LoginSubject extends Subject {
  readonly token = randomBytes(32).toString('base64url');
  readonly id = `op:${createHash('sha256').update(this.token).digest('hex')}`;
  readonly name = `login ${this.id.slice(0, 12)}`;
  proof = '';

  constructor(private readonly origin: string) {
    super();
  }

  async open(send: Send, address: string): Promise<void> {
    const answer = await send('POST', '/v1/cli/login', {
      headers: { 'x-forwarded-for': address },
      body: { token: this.token, client: { label: this.id.slice(3, 40) } },
    });
    this.look(answer);
    this.learn('open', answer, { 200: 'nothing' });
    const url = answer?.body.url;
    if (typeof url === 'string') this.proof = new URL(url).hash.slice(1);
  }

  async submit(send: Send, approver: Approver | undefined, proof = this.proof): Promise<void> {
    const organizationId = approver?.organizationId;
    const answer = await this.browse(send, 'submit', approver, {
      submissionToken: proof,
      approve: true,
      organizationId,
    });
    this.learn(`submit`, answer, {
      ...ENDED,
      ...(approver === undefined || proof !== this.proof ? {} : { 200: 'completed' }),
      ...(approver === undefined ? { '401 session_required': 'nothing' } : {}),
      ...(proof === this.proof ? {} : { '403 forbidden': 'nothing' }),
    });
  }

  async deny(send: Send): Promise<void> {
    const answer = await this.browse(send, 'deny', undefined, { submissionToken: this.proof });
    this.learn('deny', answer, { ...ENDED, 200: 'denied' });
  }

  async poll(send: Send, token = this.token): Promise<void> {
    const answer = await send('GET', `/v1/cli/operations/${encodeURIComponent(this.id)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    this.look(answer);
    if (token !== this.token) return this.learn('poll of a stranger', answer, { '403 forbidden': 'nothing' });
    const { state, denied } = answer?.body ?? {};
    const told = denied === true ? 'denied' : (state as End | 'pending' | undefined);
    this.learn('poll', answer, { 200: told ?? 'nothing' });
  }

  private browse(send: Send, step: string, approver: Approver | undefined, body: object): Promise<ModelAnswer> {
    this.steps++;
    return send('POST', `/v1/cli/browser/${encodeURIComponent(this.id)}/${step}`, {
      headers: { origin: this.origin, ...(approver && { cookie: approver.cookie }) },
      body,
    }).then((answer) => {
      this.look(answer);
      return answer;
    });
  }

  private look(answer: ModelAnswer): void {
    if (answer?.text.includes('gw_mgmt_')) this.deliveries++;
  }
}

/** The authorization of an OAuth client. */
export class ConsentSubject extends Subject {
  readonly verifier = randomBytes(32).toString('base64url');
  readonly redirects = new Set<string>();
  id = '';
  proof = '';

  constructor(private readonly origin: string) {
    super();
  }

  get name(): string {
    return `authorization ${this.id.slice(0, 16)}`;
  }

  async open(send: Send, address: string): Promise<void> {
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: CLIENT, redirect_uri: REDIRECT_URI, resource: this.origin },
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const answer = await send('GET', `/oauth/authorize?${query}`, { headers: { 'x-forwarded-for': address } });
    this.learn('open', answer, { 302: 'nothing' });
    const [, id = '', proof = ''] = /id=(oauth-[0-9a-f]{64})#([\w-]{43})/.exec(answer?.text ?? '') ?? [];
    this.id = id;
    this.proof = proof;
  }

  async decide(send: Send, step: 'allow' | 'deny' | 'guest', approver: Approver | undefined): Promise<void> {
    this.steps++;
    const allowance = { organizationId: approver?.organizationId ?? 'none', grant: 'manage' };
    const answer = await send('POST', `/v1/console/oauth/${this.id}/${step}`, {
      headers: { origin: this.origin, ...(approver && { cookie: approver.cookie }) },
      body: { submissionToken: this.proof, ...(step === 'allow' ? allowance : {}) },
    });
    this.learn(step, answer, {
      ...ENDED,
      200: step === 'deny' ? 'denied' : 'completed',
      ...(step === 'allow' && approver === undefined ? { '401 session_required': 'nothing' } : {}),
      // The deployment has accounts.
      ...(step === 'guest' ? { '409 conflict': 'nothing' } : {}),
    });
    if (answer?.status === 200) this.redirects.add(String(answer.body.redirect));
    if (this.redirects.size > 1) throw new Error(`${this.name}: ${this.redirects.size} different redirects`);
  }

  async exchange(send: Send): Promise<void> {
    const [redirect] = this.redirects;
    const code = redirect === undefined ? null : new URL(redirect).searchParams.get('code');
    if (code === null) return;
    const answer = await send('POST', '/oauth/token', {
      form: {
        ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, client_id: CLIENT },
        code_verifier: this.verifier,
      },
    });
    this.learn('exchange', answer, { 200: 'completed', '400 invalid_grant': 'nothing' });
    if (answer?.status === 200) this.deliveries++;
  }
}

const ENDED = {
  '409 operation_denied': 'denied',
  '409 already_completed': 'completed',
  '410 operation_expired': 'expired',
} as const;
