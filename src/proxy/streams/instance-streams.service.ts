import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import type { LiveInstance } from '../../platform/instances/instances.repository.js';
import { GuardedRequest, OutboundError } from '../../platform/outbound/guarded-request.js';
import { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import {
  credentialHeader,
  entriesFrom,
  isAllFrom,
  MAX_REPLY_BYTES,
  ONCE_BYTES,
  packed,
  unpacked,
} from './instance-reply.rules.js';
import { type OpenedEntry, openEntry } from './shared-stream.rules.js';
import { type NamedStream, StreamIds } from './stream-ids.service.js';
import { StreamStore } from './stream-store.js';

const TIMEOUT_MS = 2_000;
const LOGGED_EVERY_MS = 60_000;
const FOUND = 200;
const NOT_KEPT = 204;

/** What one look at the answer of another instance finds. */
export interface Look {
  readonly entries: readonly OpenedEntry[];
  /** Whether there is no more now. */
  readonly isAll: boolean;
  /** Whether its instance does not keep it any more. */
  readonly isGone?: boolean;
}

/** The operator names the addresses of instances. Those of metadata services are refused all the same. */
class AddressesOfInstances extends TrustedHosts {
  constructor() {
    super([]);
  }

  override allowsHost(): boolean {
    return true;
  }

  override allowsAddress(): boolean {
    return true;
  }
}

/**
 * Both ends of the way between two instances while Redis is lost, where the asked one has an `INTERNAL_URL`.
 *
 * Route: `GET /v1/instances/{instance}/streams/{stream}`. Log line: stream_owner_unreachable.
 * Source: docs/reference/security.md#resumable-answers.
 */
@Injectable()
export class InstanceStreams implements OnModuleDestroy {
  readonly #outbound = new GuardedRequest({ trustedHosts: new AddressesOfInstances() });
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: StreamStore,
    private readonly ids: StreamIds,
    private readonly random: Ids,
    private readonly clock: SharedClock,
    private readonly log: Log,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await this.#outbound.close();
  }

  /** What this instance keeps of an answer from a byte on, sealed. @returns undefined when it keeps nothing. */
  reply(mark: string, from: number): Buffer | undefined {
    const stream = this.store.find(mark);
    if (stream === undefined) return undefined;
    const once = this.random.bytes(ONCE_BYTES);
    return packed(once, entriesFrom(this.ids.keyOfReply(stream.facts.id, once), stream, from));
  }

  /** Asks an instance for an answer. @returns undefined when it has no address, or does not answer as it should. */
  async look(named: NamedStream, { id: instance, internalUrl }: LiveInstance, from: number): Promise<Look | undefined> {
    if (internalUrl === null) return undefined;
    const asked = {
      instance,
      stream: named.mark,
      from: String(from),
      sentAtMs: String(Math.round(this.clock.nowMs())),
    };
    const authorization = credentialHeader({ sentAtMs: asked.sentAtMs, signature: named.signature(asked) });
    try {
      const { status, body } = await this.#outbound.get(
        `${internalUrl}/v1/instances/${instance}/streams/${named.mark}?from=${from}`,
        { headers: { authorization }, timeoutMs: TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES },
      );
      if (status === NOT_KEPT) return { entries: [], isAll: true, isGone: true };
      const found = status === FOUND ? opened(named, body, from) : undefined;
      if (found === undefined) this.unreachable(instance, `status ${status}`);
      return found;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      this.unreachable(instance, error.reason);
      return undefined;
    }
  }

  private unreachable(instance: string, error: string): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.#loggedAtMs < LOGGED_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.log.event('stream_owner_unreachable', { instance, error });
  }
}

/** @returns undefined unless every entry is one of this stream. */
function opened(named: NamedStream, reply: Buffer, from: number): Look | undefined {
  const { once, sealed } = unpacked(reply) ?? {};
  if (once === undefined || sealed === undefined) return undefined;
  const key = named.keyOfReply(once);
  const entries = sealed.flatMap((one) => openEntry(key, one) ?? []);
  if (entries.length < sealed.length) return undefined;
  const end = entries.reduce((most, one) => (one.kind === 'bytes' ? one.start + one.bytes.length : most), from);
  return { entries, isAll: isAllFrom(from, end) };
}
