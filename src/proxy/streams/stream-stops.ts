import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ConfigChanges } from '../../platform/database/config-changes.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import type { NamedStream } from './stream-ids.service.js';
import { StreamStore } from './stream-store.js';

/** Topic of {@link ConfigChanges} for answers that their callers stop; the key is the mark of the stream. */
const STOPS_TOPIC = 'stream_stops';

/** Stops answers on the instance that reads them, whichever instance receives the request. */
@Injectable()
export class StreamStops implements OnModuleDestroy {
  readonly #unsubscribe: () => void;

  constructor(
    private readonly store: StreamStore,
    private readonly instances: InstanceRegistry,
    private readonly dataSource: DataSource,
    private readonly changes: ConfigChanges,
  ) {
    this.#unsubscribe = changes.subscribe(STOPS_TOPIC, (mark) => {
      this.store.find(mark)?.stop();
    });
  }

  onModuleDestroy(): void {
    this.#unsubscribe();
  }

  /** Also stops the copy of this instance, so that its readers need not wait for the owner. */
  async stop(named: NamedStream): Promise<void> {
    const { mark } = named;
    this.store.find(mark)?.stop();
    if (named.isReadBy(this.instances.id)) return;
    await this.changes.publish(this.dataSource, { topic: STOPS_TOPIC, key: mark });
  }
}
