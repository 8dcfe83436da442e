import type { IncomingMessage } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import { DeploymentIdRepository } from './deployment-id.repository.js';

const HEADER = 'cdn-loop';
const NOTHING: readonly string[] = [];

/**
 * Marks calls to addresses that operators choose with the id of this deployment, and recognises them when they come
 * back: such an address leads to the gateway itself. Source: RFC 8586.
 */
@Injectable()
export class LoopMark implements OnModuleInit {
  #id = '';
  #header = NOTHING;

  constructor(private readonly deployment: DeploymentIdRepository) {}

  async onModuleInit(): Promise<void> {
    this.#id = `gateway-${await this.deployment.read()}`;
    this.#header = Object.freeze([HEADER, this.#id]);
  }

  /** The header of a call, as name and value; empty for a provider at the address of its type. */
  headerFor({ isAtOwnAddress }: ProviderInstance): readonly string[] {
    return isAtOwnAddress ? this.#header : NOTHING;
  }

  /** The refusal of a request that this deployment has sent itself; undefined for any other. */
  refusalOf({ headers }: IncomingMessage): GatewayError | undefined {
    const mark = headers[HEADER];
    if (mark === undefined || !this.#isOwn(Array.isArray(mark) ? mark.join(',') : mark)) return undefined;
    const message = 'The gateway sent this request to itself: the base URL of a provider leads back to it.';
    return new GatewayError('invalid_request', { status: 508, message, reason: 'loop' });
  }

  /** @param marks a list of ids, each with parameters (RFC 8586 section 2). */
  #isOwn(marks: string): boolean {
    return marks.split(',').some((mark) => mark.split(';')[0]?.trim() === this.#id);
  }
}
