import type { ApiAnswer } from '../../api-client.js';
import type { FakeClock } from '../../clock.js';
import type { World } from '../../world.js';
import type { Device } from '../devices/device.js';
import { BUNDLE_ID, TEAM_ID } from '../devices/phone.js';

const GRANT = 'urn:anthropic:params:oauth:grant-type:app-attest';
const ALMOST_EXPIRED_SECONDS = 15;
const REFRESH_BEFORE_MS = 60_000;
const NEW_KEY_PAUSE_MS = 600_000;
const MAX_SECONDS = 86_400;
const MINT_PAUSE_SECONDS = 60;
const QUOTA_PAUSE_SECONDS = 900;
const IDS = { teamId: TEAM_ID, bundleId: BUNDLE_ID };

/** Why the client gives up, as it tells its application. */
export type GivenUp = 'not_offered' | 'device_limited' | 'quota' | 'new_key_too_soon' | 'failed';

/** Thrown where the client gives up. */
export class ClientGaveUp extends Error {
  constructor(readonly reason: GivenUp) {
    super(reason);
  }
}

/** What came for a request of the client. */
interface Received {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer whose shape the OpenAPI check has proven
  readonly body: any;
}

export type Route = 'challenge' | 'register' | 'token' | 'call';

interface Parts {
  readonly world: Pick<World, 'as'>;
  readonly appId: string;
  /** Of the provider. */
  readonly slug: string;
  readonly vendor: { device(): Device };
  readonly clock: FakeClock;
  readonly address: string;
}

/**
 * The documented state machine of the framework's client, on a clock that waits at once: which request follows which
 * answer, when it refreshes, and when it gives up.
 */
export class FrameworkClient {
  /** Its requests, in order. */
  readonly routes: Route[] = [];
  /** How long it waited for a challenge to expire, in milliseconds. */
  readonly waitedMs: number[] = [];
  /** Changes what the client is given, as another server might answer. */
  edit: (route: Route, received: Received) => Received = (_, received) => received;
  device: Device | undefined;
  /** What its system signs beside the proof. */
  authenticatorData: ((bytes: Buffer) => Buffer) | undefined;
  /** Makes its keys. */
  vendor: Parts['vendor'];
  /** What the gateway answered last. */
  last: ApiAnswer | undefined;
  readonly address: string;
  private readonly parts: Parts;
  private token: { readonly value: string; readonly endMs: number } | undefined;
  private next: { readonly challenge: string; readonly endMs: number } | undefined;
  private refreshing: Promise<string> | undefined;
  private registeredMs = Number.NEGATIVE_INFINITY;
  private isOffered = true;
  private readonly pausedUntilMs = { register: 0, token: 0 };

  constructor(parts: Parts) {
    this.parts = parts;
    this.vendor = parts.vendor;
    this.address = parts.address;
  }

  /** A call of the Messages API; a refused token is dropped, and the call repeated once. */
  async call(): Promise<ApiAnswer> {
    const first = await this.send(await this.bearer());
    if (first.status !== 401) return first;
    this.token = undefined;
    return this.send(await this.bearer());
  }

  /** As if its process had started again with its key. */
  dropToken(): void {
    this.token = undefined;
  }

  /** As if the gateway had another secret. */
  spoilToken(): void {
    if (this.token !== undefined) this.token = { ...this.token, value: `${this.token.value.slice(0, -4)}AAAA` };
  }

  /** A token that lasts for more than a minute. Callers share one refresh. */
  async bearer(): Promise<string> {
    if (this.token !== undefined && this.nowMs() < this.token.endMs - REFRESH_BEFORE_MS) return this.token.value;
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  private async refresh(): Promise<string> {
    if (!this.isOffered) throw new ClientGaveUp('not_offered');
    if (this.device === undefined) return this.register();
    for (const challenge of [this.takeNext() ?? (await this.challenge(this.device)), undefined]) {
      const received = await this.mint(this.device, challenge ?? (await this.challenge(this.device)));
      if (received.status === 200) return this.keep(received);
      if (received.status !== 401) throw this.gaveUp('token', received);
    }
    return this.register();
  }

  private async register(): Promise<string> {
    if (this.nowMs() - this.registeredMs < NEW_KEY_PAUSE_MS) throw new ClientGaveUp('new_key_too_soon');
    if (this.nowMs() < this.pausedUntilMs.register) throw new ClientGaveUp('quota');
    const device = this.vendor.device();
    const challenge = await this.challenge(device);
    const { authenticatorData } = this;
    const attestation_object = await device.attest({ ...IDS, challenge }, { authenticatorData });
    const received = await this.post('register', { key_id: device.keyId, attestation_object });
    if (received.status !== 200) throw this.gaveUp('register', received);
    this.registeredMs = this.nowMs();
    this.device = device;
    return this.keep(received);
  }

  /** A challenge with enough life left; one that is almost expired is waited out. */
  private async challenge(device: Device): Promise<string> {
    for (;;) {
      const received = await this.post('challenge', { key_id: device.keyId });
      if (received.status !== 200) throw this.gaveUp('challenge', received);
      const seconds = sane(received.body.expires_in) ?? 0;
      if (seconds >= ALMOST_EXPIRED_SECONDS) return received.body.challenge;
      const waitMs = (seconds + 1) * 1000;
      this.waitedMs.push(waitMs);
      this.parts.clock.advance(waitMs);
    }
  }

  private takeNext(): string | undefined {
    const { next } = this;
    this.next = undefined;
    return next !== undefined && next.endMs - this.nowMs() >= ALMOST_EXPIRED_SECONDS * 1000
      ? next.challenge
      : undefined;
  }

  private async mint(device: Device, challenge: string): Promise<Received> {
    if (this.nowMs() < this.pausedUntilMs.token) throw new ClientGaveUp('device_limited');
    const { authenticatorData } = this;
    const { appId } = this.parts;
    const clientData = Buffer.concat([
      Buffer.from('anthropic-app-attest-token-v1'),
      Buffer.from(challenge, 'base64url'),
      Buffer.from(appId),
      Buffer.from(device.keyId, 'base64'),
    ]);
    const assertion = device.assert({ ...IDS, appId, challenge }, { clientData, authenticatorData });
    const form = { grant_type: GRANT, client_id: appId, key_id: device.keyId, assertion };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.request('token', { raw: new URLSearchParams(form).toString(), headers });
  }

  private keep({ body }: Received): string {
    const { access_token, expires_in, next_challenge, next_challenge_expires_in } = body;
    const nowMs = this.nowMs();
    this.token = { value: access_token, endMs: nowMs + (sane(expires_in) ?? 0) * 1000 };
    const life = sane(next_challenge_expires_in);
    this.next = next_challenge && life ? { challenge: next_challenge, endMs: nowMs + life * 1000 } : undefined;
    return access_token;
  }

  private gaveUp(route: 'challenge' | 'register' | 'token', { status, retryAfter }: Received): ClientGaveUp {
    if (status === 404) this.isOffered = false;
    if (status === 404) return new ClientGaveUp('not_offered');
    if (status !== 429 || route === 'challenge') return new ClientGaveUp('failed');
    const pause = Number(retryAfter ?? (route === 'token' ? MINT_PAUSE_SECONDS : QUOTA_PAUSE_SECONDS));
    this.pausedUntilMs[route] = this.nowMs() + pause * 1000;
    return new ClientGaveUp(route === 'token' ? 'device_limited' : 'quota');
  }

  private post(route: 'challenge' | 'register', body: object): Promise<Received> {
    return this.request(route, { raw: JSON.stringify({ client_id: this.parts.appId, ...body }) });
  }

  private async request(
    route: 'challenge' | 'register' | 'token',
    { raw, headers = {} }: { readonly raw: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Received> {
    this.routes.push(route);
    const path = route === 'token' ? 'v1/oauth/token' : `v1/oauth/app-attest/${route}`;
    const sent = { raw, headers: { 'x-forwarded-for': this.address, ...headers } };
    const answer = await this.parts.world.as(undefined).post(this.path(path), undefined, sent);
    this.last = answer;
    const { status, body } = answer;
    return this.edit(route, { status, retryAfter: answer.headers.get('retry-after'), body });
  }

  private async send(bearer: string): Promise<ApiAnswer> {
    this.routes.push('call');
    const body = { model: 'claude-haiku-4-5', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
    const headers = { 'anthropic-version': '2023-06-01' };
    return this.parts.world.as(bearer).post(this.path('v1/messages'), body, { headers });
  }

  private path(path: string): string {
    return `/v1/apps/${this.parts.appId}/proxy/${this.parts.slug}/${path}`;
  }

  private nowMs(): number {
    return this.parts.clock.nowMs();
  }
}

/** Seconds of an answer; the client ignores odd ones and those of more than a day. */
function sane(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}
