import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { lruCache } from '../../common/lru-cache.js';
import { Environment, EnvironmentError } from '../../platform/config/environment.js';
import { GuardedRequest, OutboundError, type OutboundFailure } from '../../platform/outbound/guarded-request.js';
import { type ClientProblem, metadataUrlOf, type OAuthClient, readMetadata, readRegistered } from './client.rules.js';

const FETCH_TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 64 * 1024;
const MAX_FETCHES = 20;
const MAX_FETCHES_OF_ADDRESS = MAX_FETCHES / 4;
const MAX_DOCUMENTS = 500;
/**
 * A document is cached for five minutes, a failure for two seconds: people wait only briefly, and a host is not
 * flooded.
 */
const DOCUMENT_LIFE_MS = 5 * 60_000;
const FAILURE_LIFE_MS = 2_000;
const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

const FAILURES: Readonly<Record<OutboundFailure, string>> = {
  blocked: 'is at an address that may not be called',
  unreachable: 'cannot be read',
  timeout: 'took longer than 5 seconds',
  too_large: 'is larger than 64 KiB',
  invalid_url: 'has no valid address',
};

/** A client that is unknown or refused. The message is for the person who runs it. */
export class ClientRefused extends Error {}

interface Fetch {
  readonly found: Promise<OAuthClient | ClientProblem>;
  /** Its first requester. */
  readonly address: string;
}

interface Remembered {
  readonly found: OAuthClient | ClientProblem;
  readonly untilMs: number;
}

/**
 * The OAuth clients: those that the operator registers, and those that a metadata document under their own id
 * describes. Callers of one document share one fetch.
 *
 * Source: docs/reference/management-api.md#oauth-clients, docs/reference/security.md#outbound-addresses.
 */
@Injectable()
export class OAuthClients {
  readonly #registered: ReadonlyMap<string, OAuthClient>;
  readonly #documents = lruCache<Remembered>(MAX_DOCUMENTS);
  readonly #fetches = new Map<string, Fetch>();

  /** @throws EnvironmentError the file of registered clients cannot be read. */
  constructor(
    private readonly environment: Environment,
    private readonly outbound: GuardedRequest,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.#registered = registeredClients(environment.OAUTH_CLIENTS_FILE);
  }

  /** @param address of the caller; a quarter of the fetches at most is for one. @throws ClientRefused */
  async find(clientId: string, address: string): Promise<OAuthClient> {
    const registered = this.#registered.get(clientId);
    if (registered !== undefined) return registered;
    const url = this.environment.OAUTH_CLIENT_METADATA_ENABLED ? metadataUrlOf(clientId) : undefined;
    if (url === undefined) throw new ClientRefused('The client is unknown here.');
    const hosts = this.environment.OAUTH_CLIENT_HOSTS;
    if (hosts.length > 0 && !hosts.includes(url.hostname)) {
      throw new ClientRefused(`Clients of ${url.hostname} are not accepted here.`);
    }
    const found = await this.document(url, address);
    if ('problem' in found) throw new ClientRefused(`The client's metadata document ${found.problem}.`);
    return found;
  }

  private async document(url: URL, address: string): Promise<OAuthClient | ClientProblem> {
    const known = this.#documents.get(url.href);
    if (known !== undefined && this.clock.monotonicMs() < known.untilMs) return known.found;
    const underWay = this.#fetches.get(url.href);
    if (underWay !== undefined) return underWay.found;
    const ofAddress = [...this.#fetches.values()].filter((fetch) => fetch.address === address).length;
    if (this.#fetches.size >= MAX_FETCHES || ofAddress >= MAX_FETCHES_OF_ADDRESS) {
      return { problem: 'cannot be read now: too many are being read; try again' };
    }
    const found = this.fetch(url).finally(() => this.#fetches.delete(url.href));
    this.#fetches.set(url.href, { found, address });
    return found;
  }

  private async fetch(url: URL): Promise<OAuthClient | ClientProblem> {
    const found = await this.read(url);
    const isFound = !('problem' in found);
    const lifeMs = isFound ? DOCUMENT_LIFE_MS : FAILURE_LIFE_MS;
    this.#documents.set(url.href, { found, untilMs: this.clock.monotonicMs() + lifeMs });
    if (!isFound) this.log.event('oauth_client_refused', { host: url.host, problem: found.problem });
    return found;
  }

  private async read(url: URL): Promise<OAuthClient | ClientProblem> {
    try {
      const { status, headers, body } = await this.outbound.get(url.href, {
        headers: { accept: 'application/json' },
        timeoutMs: FETCH_TIMEOUT_MS,
        maxBytes: MAX_DOCUMENT_BYTES,
      });
      if (status !== 200) return { problem: `returned status ${status}; it must be 200` };
      const type = headers['content-type'];
      if (typeof type !== 'string' || !JSON_MEDIA_TYPE.test(type)) return { problem: 'must be application/json' };
      return readMetadata(url, body);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { problem: FAILURES[error.reason] };
    }
  }
}

function registeredClients(path: string | undefined): ReadonlyMap<string, OAuthClient> {
  if (path === undefined) return new Map();
  const clients = readRegistered(bytesOf(path));
  if ('problem' in clients) throw new EnvironmentError(`OAUTH_CLIENTS_FILE ${path}: ${clients.problem}`);
  return new Map(clients.map((client) => [client.id, client]));
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new EnvironmentError(`OAUTH_CLIENTS_FILE ${path}: cannot be read`, { cause });
  }
}
