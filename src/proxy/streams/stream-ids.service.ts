import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { TokenSecrets } from '../../platform/secrets/signing-secrets.js';
import { IV_BYTES, openBytes, sealBytes } from '../../platform/vault/sealed-blob.rules.js';
import { partsOf, type StreamClaims, StreamKeys, type StreamOwner } from './stream-id.rules.js';

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

  /** Mark of the instance that reads the answer; see {@link StreamIds.instanceMark}. */
  get instance(): string {
    return this.claims.instance;
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
      instance: this.instanceMark(this.instances.id),
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

  /** Identifies an instance without revealing its id. */
  instanceMark(id: string): string {
    return this.#current.mark('instance', id);
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
