import { FakeClock } from '../../clock.js';
import { eventually } from '../../eventually.js';
import { plainCompletion } from '../../proxy/upstream.js';
import { json } from '../../proxy/upstream-scripts.js';
import { DeviceKeystore } from '../devices/device-keystore.js';
import { startIssuer } from '../issuers/issuer.js';
import { MobileClient, type MobileSetup } from './mobile-client.js';
import { MobileError } from './mobile-error.js';
import { startMobileWorld } from './mobile-world.js';
import { startOperatorProxy } from './operator-proxy.js';

export const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] };
/** The version in the bundle of every installed application. */
export const VERSION = '2.4.1';
/** The routes of a first call, in order. */
export const FIRST_USE = ['challenge', 'register', 'challenge', 'token', 'completions'];

interface App {
  readonly id: string;
}

/** A mobile world with applications that have the SDK inside, a provider they call, and a clock that tests move. */
export type SdkWorld = Awaited<ReturnType<typeof startSdkWorld>>;

/** Starts a world for one suite. `tidy` it in `afterEach` and stop it in `afterAll`. */
export async function startSdkWorld() {
  const clock = new FakeClock();
  const world = await startMobileWorld({ clock });
  const { slug } = await world.provider();
  const ends: (() => Promise<void>)[] = [];
  /** An installed application whose requests to the service are recorded. */
  const install = async (app: App, setup: Partial<MobileSetup> = {}) => {
    const edge = await startOperatorProxy(world.baseUrl);
    ends.push(edge.close);
    const client = new MobileClient({ baseUrl: edge.url, appId: app.id, appVersion: VERSION, clock, ...setup });
    return { edge, client, say: () => said(client, slug) };
  };
  return {
    ...world,
    clock,
    /** Of the provider. */
    slug,
    install,
    /** The same on a phone that can attest. */
    async installOnPhone(app: App, setup?: Partial<MobileSetup>) {
      const keystore = new DeviceKeystore(world.vendor);
      return { keystore, ...(await install(app, { keystore, ...setup })) };
    },
    /** A separate identity provider, so that its failures do not affect other tests. */
    async ownIssuer() {
      const issuer = await startIssuer({ clock });
      ends.push(issuer.stop);
      return issuer;
    },
    /** The recorded calls, once there are any. */
    async recorded(app: App) {
      const list = async () => (await world.api.get(`/v1/admin/apps/${app.id}/events`)).body.events;
      await eventually(async () => (await list()).length > 0, { withinMs: 10_000 });
      return list();
    },
    /** Closes everything that a test opened; the provider answers as usual again. */
    async tidy() {
      world.upstream.script(json(200, plainCompletion));
      await Promise.all(ends.splice(0).map((end) => end()));
    },
  };
}

/** One chat, read to its end. */
export async function said(client: MobileClient, slug: string): Promise<string> {
  return (await client.call(slug, 'v1/chat/completions', CHAT)).text();
}

/** The SDK's refusal of a call; fails when there is none. */
export async function sdkRefusal(call: Promise<unknown>): Promise<MobileError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof MobileError) return error;
  throw new Error(`not a refusal: ${error}`);
}

/** An application's source of identity tokens that records each request of the SDK: whether to refresh. */
export function watchedIdentity(token: (forceRefresh: boolean) => Promise<string>) {
  const asked: boolean[] = [];
  const issuerToken: MobileSetup['issuerToken'] = ({ forceRefresh }) => {
    asked.push(forceRefresh);
    return token(forceRefresh);
  };
  return { asked, issuerToken };
}
