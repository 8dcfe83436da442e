import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { TokenSecrets } from '../../platform/secrets/signing-secrets.js';
import { IV_BYTES } from '../../platform/vault/sealed-blob.rules.js';
import { StreamKeys, type StreamOwner } from './stream-id.rules.js';

/** A stream that its owner names. */
export interface NamedStream {
  readonly id: string;
  /** Mark of the instance that reads the answer; see {@link StreamIds.instanceMark}. */
  readonly instance: string;
  /** It has ended, and its time is over, if nothing is kept of it after this. Milliseconds since the Unix epoch. */
  readonly mayExpireAtMs: number;
  /** Names it where others can read the name. */
  readonly mark: string;
  /** Seals its bytes. */
  readonly key: KeyObject;
}

/** Makes ids of streams and reads them, also after one rotation of `JWT_SECRET`. */
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

  issue(owner: StreamOwner, resumeSeconds: number): string {
    const keys = this.#current;
    const claims = {
      owner: keys.ownerMark(owner),
      instance: this.instanceMark(this.instances.id),
      issuedAtS: Math.floor(this.clock.nowMs() / 1000),
      resumeSeconds,
    };
    return keys.seal(claims, this.ids.bytes(IV_BYTES));
  }

  /** @returns undefined for text that is no id, and for the id of a stream of any other caller: both look the same. */
  read(id: string, owner: StreamOwner): NamedStream | undefined {
    for (const keys of this.#keys) {
      const claims = keys.open(id);
      if (claims === undefined) continue;
      if (claims.owner !== keys.ownerMark(owner)) return undefined;
      return {
        id,
        instance: claims.instance,
        mayExpireAtMs: (claims.issuedAtS + claims.resumeSeconds) * 1000,
        mark: keys.mark('stream', id),
        key: keys.keyOf(id),
      };
    }
    return undefined;
  }

  /** Names an instance without telling its id. */
  instanceMark(id: string): string {
    return this.#current.mark('instance', id);
  }

  mark(purpose: string, ...parts: readonly (string | Buffer)[]): string {
    return this.#current.mark(purpose, ...parts);
  }
}
