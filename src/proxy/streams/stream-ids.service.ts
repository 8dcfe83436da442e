import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { TokenSecrets } from '../../platform/secrets/signing-secrets.js';
import { IV_BYTES, openBytes, sealBytes } from '../../platform/vault/sealed-blob.rules.js';
import { partsOf, type StreamClaims, StreamKeys, type StreamOwner } from './stream-id.rules.js';

/** What one instance asks another. */
interface InstanceRequest {
  /** Id of the instance that is asked. */
  readonly instance: string;
  /** Mark of the stream. */
  readonly stream: string;
  /** The first byte that is wanted, as text. */
  readonly from: string;
  /** When it was sent, in milliseconds since the Unix epoch, as text. */
  readonly sentAtMs: string;
}

/** A stream, as requested by its owner. */
export class NamedStream {
  /** Identifies it in public places. */
  readonly mark: string;

  constructor(
    readonly id: string,
    private readonly claims: StreamClaims,
    private readonly keys: StreamKeys,
  ) {
    this.mark = keys.mark('stream', id);
  }

  /** Whether this instance reads the answer. */
  isReadBy(instanceId: string): boolean {
    return this.claims.instance === this.keys.mark('instance', instanceId);
  }

  get issuedAtMs(): number {
    return this.claims.issuedAtS * 1000;
  }

  /** It has expired if it is no longer kept after this time. Milliseconds since the Unix epoch. */
  get mayExpireAtMs(): number {
    return (this.claims.issuedAtS + this.claims.resumeSeconds) * 1000;
  }

  /** Seals its bytes. */
  get key(): KeyObject {
    return this.keys.keyOf(this.id);
  }

  /** Seals its bytes in one reply of its instance. */
  keyOfReply(once: Buffer): KeyObject {
    return this.keys.keyOf(this.id, once);
  }

  /** Proves to another instance that one with the same secret asks. */
  signature(asked: InstanceRequest): string {
    return this.keys.mark(...signedParts(asked));
  }
}

/** Creates and reads ids of streams, even after one rotation of `JWT_SECRET`. */
@Injectable()
export class StreamIds {
  readonly #current: StreamKeys;
  readonly #keys: readonly StreamKeys[];

  constructor(
    { current, previous }: TokenSecrets,
    private readonly ids: Ids,
    private readonly clock: SharedClock,
    private readonly instances: InstanceRegistry,
  ) {
    this.#current = new StreamKeys(current.reveal());
    this.#keys = previous === undefined ? [this.#current] : [this.#current, new StreamKeys(previous.reveal())];
  }

  issue(owner: StreamOwner, resumeSeconds: number): NamedStream {
    const keys = this.#current;
    const claims = {
      owner: keys.ownerMark(owner),
      instance: keys.mark('instance', this.instances.id),
      issuedAtS: Math.floor(this.clock.nowMs() / 1000),
      resumeSeconds,
    };
    return new NamedStream(keys.seal(claims, this.ids.bytes(IV_BYTES)), claims, keys);
  }

  /** @returns undefined for invalid text and for the id of a stream of any other caller: they are indistinguishable. */
  read(id: string, owner: StreamOwner): NamedStream | undefined {
    for (const keys of this.#keys) {
      const claims = keys.open(id);
      if (claims === undefined) continue;
      return claims.owner === keys.ownerMark(owner) ? new NamedStream(id, claims, keys) : undefined;
    }
    return undefined;
  }

  /** The key that seals bytes of a stream of this instance in one reply. */
  keyOfReply(id: string, once: Buffer): KeyObject {
    return this.#current.keyOf(id, once);
  }

  /**
   * Whether an instance with the same secret, or the previous one, has signed this.
   *
   * @param signature 32 characters.
   */
  isSigned(asked: InstanceRequest, signature: string): boolean {
    return this.#keys.some((keys) =>
      timingSafeEqual(Buffer.from(keys.mark(...signedParts(asked))), Buffer.from(signature)),
    );
  }

  /**
   * Something of a caller that has a name: its mark, and text about it that only someone who knows the name can open.
   */
  named(purpose: string, owner: StreamOwner, name: string) {
    const parts = [...partsOf(owner), name];
    const mark = this.#current.mark(purpose, ...parts);
    const key = this.#current.keyOf(JSON.stringify([purpose, ...parts]));
    const context = { purpose, mark };
    return {
      mark,
      seal: (text: string): Buffer => sealBytes(key, this.ids.bytes(IV_BYTES), Buffer.from(text), context),
      open: (sealed: Buffer): string | undefined => openBytes(key, sealed, context)?.toString(),
    };
  }

  mark(purpose: string, ...parts: readonly (string | Buffer)[]): string {
    return this.#current.mark(purpose, ...parts);
  }
}

function signedParts({ instance, stream, from, sentAtMs }: InstanceRequest): [string, ...string[]] {
  return ['instance request', instance, stream, from, sentAtMs];
}
