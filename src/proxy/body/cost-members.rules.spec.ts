import { describe, expect, it } from '@jest/globals';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { validateCostMembers } from './cost-members.rules.js';

function validate(body: object) {
  return validateCostMembers(scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES), 'responses').hosted;
}

describe('members that decide what a request costs', () => {
  it.each<[object, string]>([
    [{ background: true }, 'background: requests that run in the background'],
    [{ background: 'yes' }, 'background: must be'],
    [{ deferred: true }, 'deferred: requests that run in the background'],
    [{ deferred: 1 }, 'deferred: must be'],
    [{ service_tier: 'fast' }, 'service_tier:'],
    [{ service_tier: 1 }, 'service_tier:'],
    [{ service_tier: 'performance' }, 'service_tier:'],
    [{ speed: 'fast' }, 'speed:'],
    [{ inference_geo: 'us' }, 'inference_geo:'],
    [{ fallbacks: [{ model: 'claude-opus-5' }] }, 'fallbacks: cannot be used'],
    [{ compound_custom: { models: { answering_model: 'dear' } } }, 'compound_custom: cannot be used'],
    [{ svg: { model: 'dear' } }, 'svg: cannot be used'],
    [{ agent: 'deep-research-preview' }, 'agent: cannot be used'],
    [{ model: 'm', agent_config: { type: 'antigravity', model: 'dear' } }, 'agent_config: cannot be used'],
    [{ webhook_config: { uris: ['https://a.example'] } }, 'webhook_config: cannot be used'],
    [{ service_tier: 'deferred' }, 'service_tier:'],
    [{ generationConfig: { routingConfig: { autoMode: {} } } }, 'generationConfig.routingConfig: cannot be used'],
    [{ generation_config: { model_selection_config: { a: 1 } } }, 'generation_config.model_selection_config: cannot'],
  ])('%j → 400, saying %p', (body, message) => {
    expect(() => validate(body)).toThrow(message);
  });

  it.each<object>([
    {},
    { background: false, deferred: false, service_tier: null, fallbacks: null, svg: null },
    { deferred: null, fallbacks: [] },
    { speed: 1.25 },
    { service_tier: 'flex', inference_geo: 'global' },
    { service_tier: 'on_demand' },
  ])('%j → accepted', (body) => {
    expect(validate(body)).toEqual([]);
  });

  it.each(['transparent', 'opaque', 'auto'])(
    'background of a picture, %j → accepted where images are generated',
    (background) => {
      const scan = scanJson(Buffer.from(JSON.stringify({ prompt: 'A cat', background })), REQUEST_NAMES);
      expect(validateCostMembers(scan, 'other').hosted).toEqual([]);
      expect(() => validateCostMembers(scan, 'responses')).toThrow('background: must be');
    },
  );

  it.each<unknown>([true, 'true', 'yes', 1])('background %j → 400 there as well', (background) => {
    const scan = scanJson(Buffer.from(JSON.stringify({ background })), REQUEST_NAMES);
    expect(() => validateCostMembers(scan, 'other')).toThrow('background: ');
  });

  it('hosted tools → passed on for pricing', () => {
    expect(validate({ tools: [{ type: 'web_search' }] })).toEqual(['web_search']);
  });
});
