import { createHash, randomBytes } from 'node:crypto';
import { pageOf } from '../accounts/people.js';
import type { ApiAnswer, ApiClient } from '../api-client.js';
import type { World } from '../world.js';

/** A terminal that logs in over HTTP, as any client of the API would. */
export class Terminal {
  readonly token = randomBytes(32).toString('base64url');
  readonly id = `op:${createHash('sha256').update(this.token).digest('hex')}`;

  constructor(
    private readonly world: World,
    /** The address it comes from, where the world trusts the proxy in front of it. */
    private readonly address?: string,
  ) {}

  private get headers(): Record<string, string> {
    return this.address === undefined ? {} : { 'x-forwarded-for': this.address };
  }

  open(members: object = {}): Promise<ApiAnswer> {
    const body = { token: this.token, client: { label: 'A laptop' }, ...members };
    return this.world.as(undefined).post('/v1/cli/login', body, { headers: this.headers });
  }

  poll(token = this.token): Promise<ApiAnswer> {
    return this.world.as(token).get(`/v1/cli/operations/${this.id}`);
  }

  /** Sends an operation with a management key. */
  operate(key: string, kind: string, payload: object, members: object = {}): Promise<ApiAnswer> {
    return this.world.as(key).post('/v1/cli/operations', { kind, payload, token: this.token, ...members });
  }

  bootstrap(): Promise<ApiAnswer> {
    return this.world.as(undefined).post('/v1/cli/bootstrap', { token: this.token });
  }

  redeem(redeemCode: string, token = this.token): Promise<ApiAnswer> {
    return this.world.as(token).post(`/v1/cli/login/${this.id}/redeem`, { redeemCode });
  }
}

/** A browser on the approval pages; `cookie` is that of a signed-in person. */
export class ApprovalBrowser {
  private readonly page: ApiClient;

  constructor(world: World, cookie?: string, address?: string) {
    this.page = pageOf(world, cookie, address);
  }

  post(path: string, body: object, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.page.post(`/v1/cli/browser/${path}`, body, { headers });
  }

  lookup(userCode: string): Promise<ApiAnswer> {
    return this.post('lookup', { userCode });
  }

  details(id: string, submissionToken: string): Promise<ApiAnswer> {
    return this.post(`${id}/details`, { submissionToken });
  }

  approve(id: string, submissionToken: string, members: object = {}): Promise<ApiAnswer> {
    return this.post(`${id}/submit`, { submissionToken, approve: true, ...members });
  }

  deny(id: string, submissionToken: string): Promise<ApiAnswer> {
    return this.post(`${id}/deny`, { submissionToken });
  }
}

/** The proof in the link of an opened operation. */
export function proofIn({ body }: ApiAnswer): string {
  return new URL(body.url).hash.slice(1);
}
