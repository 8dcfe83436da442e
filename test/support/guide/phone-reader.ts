import { type AndroidDevice, SIGNING_CERTIFICATE } from '../client-auth/devices/android.js';
import type { Device } from '../client-auth/devices/device.js';
import { BUNDLE_ID, TEAM_ID } from '../client-auth/devices/phone.js';
import type { MobileWorld } from '../client-auth/exchange/mobile-world.js';
import type { Reader } from './guide.js';
import { lastAnswer, memberOf } from './guide-answers.js';
import { type GuideBlock, readGuide } from './guide-blocks.js';
import type { GuideShell } from './guide-shell.js';

const USER = 'ada';
const AUDIENCE = 'my-app';
const GUIDE = 'docs/guides/call-from-a-phone.md';
/** The authentication of the application that the guide creates. */
const AUTHENTICATION = /\{\s*"type": "device_app_attest"[\s\S]*?\n {6}\}/;
/** The text that the guide lets Swift put together. */
const CLIENT_DATA = /^let text = (".*")$/m;
/** Of the app in the guide. */
const PRINTED_CERTIFICATE = '3f1c0e5a9b7d2c4e6f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6';
/** The same text in Kotlin. */
const KOTLIN_DATA = /^val text = """(.*)"""$/m;

interface ClientData {
  readonly appId: string;
  readonly challenge: string;
  readonly keyId: string;
}

/** A reader of the guides about phones: a phone and an identity provider do what the guides leave to them. */
export class PhoneReader {
  private readonly device: Device;
  private readonly android: AndroidDevice;

  constructor(
    private readonly world: MobileWorld,
    private readonly shell: GuideShell,
  ) {
    this.device = world.vendor.device();
    this.android = world.android.device();
  }

  /** For the guide that ends with a call of the phone. */
  signsIn(): Reader {
    const { shell, world } = this;
    const { jwksUrl, url } = world.issuer;
    let application = '';
    return {
      shell,
      own: {
        'https://id.example.com/.well-known/jwks.json': jwksUrl,
        'https://id.example.com': url,
        [PRINTED_CERTIFICATE]: SIGNING_CERTIFICATE,
      },
      steps: {
        '"device_proofs"': async (block, walk) => {
          await walk.run({ ...block, text: application.replace(AUTHENTICATION, block.text) });
          memberOf(lastAnswer(walk.output), 'app.id');
        },
        '"source": "app_install"': async (block, walk) => {
          await walk.run(block);
          application = block.text;
        },
        '"jwks_url":': (block, walk) =>
          walk.run({ ...block, text: application.replace('{"source": "app_install"}', block.text) }),
        attestKey: (_block, walk) => this.attest(memberOf(lastAnswer(walk.output), 'challenge')),
        generateAssertion: () => this.assert(),
        // Clients of their own, which this machine cannot run; examples/resume is the same one.
        'func readStream': async () => undefined,
        'fun readStream': async () => undefined,
        setAttestationChallenge: async (_block, walk) =>
          this.attestAndroid(memberOf(lastAnswer(walk.output), 'challenge')),
        SHA256withECDSA: (block) => this.signAndroid(block),
        // A simulated vendor of integrity tokens has no part in the guide.
        setRequestHash: async () => undefined,
      },
    };
  }

  /** For the guide that goes on from there. */
  manages(): Reader {
    const { shell, world } = this;
    return {
      shell,
      steps: {
        'auth-events?limit=1': async (block, walk) => {
          await this.assert('another-audience');
          await this.exchange();
          await walk.run(block);
        },
        '"$BACKEND_KEY"': async (block, walk) => {
          const app = await world.backendApp({ audience: AUDIENCE });
          shell.export({ BACKEND_APP: app.id, BACKEND_KEY: app.key, ISSUER_TOKEN: await this.issuerToken() });
          await walk.run(block);
        },
      },
    };
  }

  /** What a device signs, as the guide's own Swift puts it together. */
  static clientData({ appId, challenge, keyId }: ClientData): string {
    const literal = CLIENT_DATA.exec(readGuide(GUIDE))?.[1] ?? '';
    const values: Readonly<Record<string, string>> = { appId, challenge, keyId };
    return JSON.parse(literal.replaceAll(/\\\((\w+)\)/g, (_, name: string) => values[name] ?? ''));
  }

  private async attest(challenge: string): Promise<void> {
    const attestation = await this.device.attest({ challenge, teamId: TEAM_ID, bundleId: BUNDLE_ID });
    this.shell.export({
      KEY_ID: this.device.keyId,
      ATTESTATION: attestation,
      CHALLENGE: challenge,
      ISSUER_TOKEN: await this.issuerToken(),
    });
  }

  private attestAndroid(challenge: string): void {
    this.shell.export({
      ANDROID_KEY_ID: this.android.keyId,
      CERTIFICATE_CHAIN: JSON.stringify(this.android.attest(challenge)),
      ANDROID_CHALLENGE: challenge,
    });
  }

  /** Signs what the guide's own Kotlin puts together. */
  private async signAndroid({ text }: GuideBlock): Promise<void> {
    const appId = this.shell.get('ANDROID_APP');
    const answer = await fetch(`${this.world.baseUrl}/v1/apps/${appId}/auth/challenge`, { method: 'POST' });
    const challenge = memberOf(await answer.json(), 'challenge');
    const values: Readonly<Record<string, string>> = { appId, challenge, keyId: this.android.keyId };
    const literal = KOTLIN_DATA.exec(text)?.[1] ?? '';
    const signed = literal.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? '');
    this.shell.export({ SIGNATURE: this.android.sign(appId, challenge, signed), ANDROID_CHALLENGE: challenge });
  }

  private async assert(audience?: string): Promise<void> {
    const appId = this.shell.get('APP');
    const answer = await fetch(`${this.world.baseUrl}/v1/apps/${appId}/auth/challenge`, { method: 'POST' });
    const challenge = memberOf(await answer.json(), 'challenge');
    const clientData = PhoneReader.clientData({ appId, challenge, keyId: this.device.keyId });
    const request = { appId, challenge, teamId: TEAM_ID, bundleId: BUNDLE_ID };
    const assertion = this.device.assert(request, { clientData });
    this.shell.export({ ASSERTION: assertion, CHALLENGE: challenge, ISSUER_TOKEN: await this.issuerToken(audience) });
  }

  /** Exchanges what {@link assert} has made. */
  private async exchange(): Promise<void> {
    const body = JSON.stringify({
      issuer_token: this.shell.get('ISSUER_TOKEN'),
      key_id: this.shell.get('KEY_ID'),
      assertion: this.shell.get('ASSERTION'),
      challenge: this.shell.get('CHALLENGE'),
    });
    await fetch(`${this.world.baseUrl}/v1/apps/${this.shell.get('APP')}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  }

  private issuerToken(aud = AUDIENCE): Promise<string> {
    return this.world.issuer.token({ sub: USER, aud });
  }
}
