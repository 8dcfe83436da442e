import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { compactDecrypt, compactVerify, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { listening } from '../../loopback.js';
import type { PlayVendor } from './play.js';

/** The answer of a route in place of the usual one; `undefined` closes the connection. */
type Scripted = { readonly status: number; readonly body: string } | undefined;

/** A service account of the simulated vendor, as its console downloads it. */
export const SERVICE_ACCOUNT = serviceAccount();

export function serviceAccount(): Readonly<Record<string, string>> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    ...{ type: 'service_account', project_id: 'example', private_key_id: '0a1b2c3d4e5f' },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: 'integrity@example.iam.gserviceaccount.com',
    token_uri: 'https://elsewhere.example.com/token',
  };
}

/** The vendor's two services on the loopback: access tokens for service accounts, and decoding of integrity tokens. */
export interface PlayServer {
  /** For `PLAY_INTEGRITY_BASE_URL`. */
  readonly url: string;
  /** For `GOOGLE_OAUTH_TOKEN_URL`. */
  readonly tokenUrl: string;
  /** Claims and headers of the assertions so far. */
  readonly grants: { header: unknown; claims: JWTPayload }[];
  /** Paths and bearer tokens of the decoding requests so far. */
  readonly decodings: { path: string | undefined; bearer: string | undefined; body: unknown }[];
  /** Answers of the two routes from now on; absent: the usual one. */
  scripted: { token?: () => Scripted; decode?: () => Scripted };
  stop(): Promise<void>;
}

/** @param account whose key verifies assertions. */
export async function startPlayServer(vendor: PlayVendor, account = SERVICE_ACCOUNT): Promise<PlayServer> {
  const server = createServer((request, response) => void serve(request, response));
  const loopback = await listening(server);
  const state: PlayServer = {
    url: `${loopback.url}/play`,
    tokenUrl: `${loopback.url}/token`,
    grants: [],
    decodings: [],
    scripted: {},
    stop: () => loopback.close(),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isToken = request.url === '/token';
    const script = isToken ? state.scripted.token : state.scripted.decode;
    const body = await textOf(request);
    if (!isToken) {
      const bearer = request.headers.authorization?.replace('Bearer ', '');
      state.decodings.push({ path: request.url, bearer, body: JSON.parse(body) });
    }
    if (script !== undefined) {
      const answer = script();
      if (answer === undefined) return void request.socket.destroy();
      return void response.writeHead(answer.status).end(answer.body);
    }
    const { status, answer } = isToken ? await grant(body) : await decode(body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  async function grant(body: string) {
    const form = new URLSearchParams(body);
    const assertion = form.get('assertion') ?? '';
    const key = createPublicKey(account.private_key ?? '');
    try {
      const { payload } = await jwtVerify(assertion, key, { currentDate: new Date(0) });
      state.grants.push({ header: decodeProtectedHeader(assertion), claims: payload });
      const isRight = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      if (!isRight) return { status: 400, answer: { error: 'unsupported_grant_type' } };
      return { status: 200, answer: { access_token: `bearer-${state.grants.length}`, expires_in: 3599 } };
    } catch {
      return { status: 400, answer: { error: 'invalid_grant' } };
    }
  }

  async function decode(body: string) {
    try {
      const { plaintext } = await compactDecrypt(JSON.parse(body).integrity_token, vendor.decryption);
      const { payload } = await compactVerify(plaintext, vendor.signing.publicKey);
      return { status: 200, answer: { tokenPayloadExternal: JSON.parse(Buffer.from(payload).toString()) } };
    } catch {
      return { status: 400, answer: { error: { status: 'INVALID_ARGUMENT' } } };
    }
  }

  return state;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
