import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { encode } from 'cbor2';

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;

/** The changes of an attacker to an otherwise valid answer. */
export interface Tampering {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly isUnverified?: boolean;
  readonly crossOrigin?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Another key signs. */
  readonly key?: KeyObject;
  /** Certificates of an unrequested attestation. */
  readonly x5c?: readonly Uint8Array[];
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** An authenticator without hardware, with one ES256 passkey that verifies its person and counts. */
export class SoftAuthenticator {
  readonly id = base64url(randomBytes(32));
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private counter = 0;
  private userHandle = '';

  /** @param origin of the page that uses it. */
  constructor(private readonly origin: string) {}

  /** The browser's message for a new passkey. */
  create(options: object, tampering: Tampering = {}) {
    const { challenge, rp, user } = options as CreationOptions;
    this.userHandle = user.id;
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const point = (coordinate: string) => new Uint8Array(Buffer.from(coordinate, 'base64url'));
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point(x)],
      [-3, point(y)],
    ]);
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, encode(key)]);
    const data = Buffer.concat([this.data(rp.id, ATTESTED, tampering), credential]);
    const clientDataJSON = this.clientData('webauthn.create', challenge, tampering);
    const attestation =
      tampering.x5c === undefined
        ? { fmt: 'none', attStmt: {} }
        : { fmt: 'packed', attStmt: { alg: -7, sig: new Uint8Array(8), x5c: tampering.x5c } };
    const attestationObject = encode({ ...attestation, authData: new Uint8Array(data) });
    return { id: this.id, clientDataJSON: base64url(clientDataJSON), attestationObject: base64url(attestationObject) };
  }

  /** The browser's message for a signature. */
  sign(options: object, tampering: Tampering = {}) {
    const { challenge, rpId } = options as RequestOptions;
    this.counter++;
    const authenticatorData = this.data(rpId, 0, tampering);
    const clientDataJSON = this.clientData('webauthn.get', challenge, tampering);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()]);
    const signature = sign('sha256', signed, tampering.key ?? this.keys.privateKey);
    return {
      ...{ id: this.id, clientDataJSON: base64url(clientDataJSON), authenticatorData: base64url(authenticatorData) },
      ...{ signature: base64url(signature), userHandle: tampering.userHandle ?? this.userHandle },
    };
  }

  private data(rpId: string, flags: number, tampering: Tampering): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(tampering.counter ?? this.counter);
    const verified = tampering.isUnverified ? 0 : USER_VERIFIED;
    const hash = createHash('sha256')
      .update(tampering.rpId ?? rpId)
      .digest();
    return Buffer.concat([hash, Buffer.from([USER_PRESENT | verified | flags]), counter]);
  }

  private clientData(type: string, challenge: string, tampering: Tampering): Buffer {
    const { origin = this.origin, crossOrigin = false } = tampering;
    return Buffer.from(
      JSON.stringify({
        ...{ type: tampering.type ?? type, challenge: tampering.challenge ?? challenge, origin, crossOrigin },
      }),
    );
  }
}
