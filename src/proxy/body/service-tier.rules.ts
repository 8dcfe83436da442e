import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { servedPrice } from '../../pricing/cost.rules.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import { tierPartOf } from '../../upstreams/usage/answer-facts.rules.js';
import type { TierPart } from '../../upstreams/usage/token-counts.js';
import { isNamed, memberValue, type ScannedBody } from '../json/scanned-body.js';

/** Spellings of the member that selects a service tier. */
const TIER_MEMBERS = ['service_tier', 'serviceTier'] as const;
/** Tiers at the list price or cheaper, by their provider names. */
const NORMAL_TIERS: ReadonlySet<unknown> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex'],
]);

/** A service tier that a request selects and a price may have rates for. */
export interface AskedTier {
  readonly member: string;
  readonly part: TierPart;
  /** It may cost more than the list price, so it needs rates. */
  readonly isDearer: boolean;
}

/**
 * Reads the service tier of a request. Whether the price of its model has rates for it decides `pricedTier`.
 *
 * @returns undefined: the standard tier, or one at its rates.
 * @throws invalid_request no price has rates for it, or two members select different tiers.
 * Source: docs/reference/application-api.md#refused-members.
 */
export function readAskedTier({ bytes, root }: ScannedBody): AskedTier | undefined {
  let asked: AskedTier | undefined;
  for (const member of TIER_MEMBERS) {
    const value = root.members.get(member);
    if (!isNamed(bytes, value)) continue;
    const tier = tierOf(member, memberValue(bytes, value, member));
    if (asked?.isDearer && tier?.part !== asked.part)
      throw invalidRequest(member, `must be the tier of ${asked.member}, or be left out`);
    asked = tier ?? asked;
  }
  return asked;
}

/**
 * @param price of the model that is called; undefined where only the provider has it.
 * @returns the part of usage that stands for the tier; undefined: the standard rates apply.
 * @throws invalid_request a tier that may cost more than the list price, without rates.
 */
export function pricedTier(asked: AskedTier | undefined, price: CompiledPrice | undefined): TierPart | undefined {
  if (asked === undefined) return undefined;
  const { member, part, isDearer } = asked;
  if (price !== undefined && servedPrice(price, { [part]: 1 }) !== price) return part;
  if (isDearer) throw unpricedTier(member);
  return undefined;
}

function tierOf(member: string, value: unknown): AskedTier | undefined {
  const part = typeof value === 'string' ? tierPartOf(value) : undefined;
  const isDearer = !NORMAL_TIERS.has(value);
  if (part === undefined && isDearer) throw unpricedTier(member);
  return part && { member, part, isDearer };
}

function unpricedTier(member: string): GatewayError {
  const allowed = [...NORMAL_TIERS].join(', ');
  return invalidRequest(member, `cannot be priced; allowed are ${allowed}, and tiers that the model has rates for`);
}
