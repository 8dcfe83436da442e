import { Injectable } from '@nestjs/common';
import type { StreamsConfig } from '../../app-directory/config/streams-config.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import type { KeptStream } from './kept-stream.js';
import { STREAM_HEADER } from './stream-headers.js';
import type { StreamOwner } from './stream-id.rules.js';
import { StreamIds } from './stream-ids.service.js';
import { StreamStore } from './stream-store.js';

/** How the answer of a call is to be kept. */
export interface KeepRequest {
  readonly config: StreamsConfig;
  readonly owner: StreamOwner;
  /** Null on the proxy. */
  readonly endpointSlug: string | null;
}

/** The head of an answer that may be kept. */
interface Head {
  readonly status: number;
  /** Flat list of names and values. */
  readonly headers: string[];
}

/** @returns undefined for a caller whose answers are not kept. @param endpointSlug null on the proxy. */
export function keepRequestOf(
  { app, userId }: Pick<Caller, 'app' | 'userId'>,
  endpointSlug: string | null,
): KeepRequest | undefined {
  const config = app.streamsOf(endpointSlug);
  return config && { config, owner: { appId: app.id, userId }, endpointSlug };
}

/** Begins to keep answers. */
@Injectable()
export class KeptAnswers {
  constructor(
    private readonly ids: StreamIds,
    private readonly store: StreamStore,
  ) {}

  /**
   * Begins to keep an answer, and names it in its head.
   *
   * @returns undefined where nobody asked for that, or the request was not served.
   */
  begin(request: KeepRequest | undefined, { status, headers }: Head): KeptStream | undefined {
    if (request === undefined || status < 200 || status > 299) return undefined;
    const { config, owner, endpointSlug } = request;
    const { max_bytes: maxBytes, resume_seconds: resumeSeconds } = config;
    const id = this.ids.issue(owner, resumeSeconds);
    const named = headers.indexOf('content-type');
    const contentType = named < 0 ? '' : (headers[named + 1] ?? '');
    headers.push(STREAM_HEADER, id);
    const { appId } = owner;
    return this.store.begin({ id, appId, endpointSlug, status, contentType, maxBytes, resumeSeconds });
  }
}
