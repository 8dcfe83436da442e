import { describe, expect, it } from '@jest/globals';
import { maxCostOf } from '../../pricing/max-cost.rules.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { applyEdits } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { validateCostMembers } from './cost-members.rules.js';
import { boundsOfToolModels, limitedToolEdits } from './tool-models.rules.js';

const CHEAP = compilePrice({ input: 1, output: 2 });
const DEAR = compilePrice({ input: 15, output: 75 });
const PRICES = new Map([
  ['cheap', CHEAP],
  ['dear', DEAR],
  ['gpt-image-2', DEAR],
]);
const OWN = { inputTokens: 1_000, outputTokens: 500, audioSeconds: 0 };

interface Setting {
  readonly type?: ProviderType;
  readonly allowed?: readonly string[];
  readonly reportsCost?: boolean;
  readonly cap?: number;
}

function judged(body: object | string, { type = 'openai', allowed = [], reportsCost = false, cap }: Setting = {}) {
  const scan = scanJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), REQUEST_NAMES);
  const { tools } = validateCostMembers(scan, 'responses');
  return boundsOfToolModels(scan, tools, OWN, () => ({
    ...{ type, cap, allowedModels: new Set(allowed), reportsCost, providerSlug: 'main' },
    priceOf: (model) => PRICES.get(model),
    outputLimitOf: () => undefined,
  }));
}

function outcome(body: object | string, setting: Setting = {}): string {
  try {
    return `${judged(body, setting).toolModels?.length ?? 0} models`;
  } catch (error) {
    return String(error);
  }
}

const advisor = (members: object = {}) => ({
  tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dear', ...members }],
});

describe('models that tools and plugins name', () => {
  it.each<[object, Setting]>([
    [advisor(), { type: 'anthropic', allowed: ['cheap'] }],
    [advisor({ type: 'advisor_20270101' }), { type: 'anthropic', allowed: ['cheap'] }],
    [{ tools: [{ type: 'image_generation', model: 'dear' }] }, { allowed: ['cheap'] }],
    [{ tools: [{ type: 'image_generation' }] }, { allowed: ['cheap'] }],
    [{ tools: [{ type: 'some_new_tool', options: { deep: [{ judgeModel: 'dear' }] } }] }, { allowed: ['cheap'] }],
    [
      { tools: [{ type: 'openrouter:advisor', parameters: { model: 'dear' } }] },
      { type: 'openrouter', allowed: ['cheap'] },
    ],
    [{ tools: [{ type: 'openrouter:image_generation' }] }, { type: 'openrouter', allowed: ['cheap'] }],
    [{ tools: [{ type: 'openrouter:some_new_one' }] }, { type: 'openrouter', allowed: ['cheap'] }],
    [{ plugins: [{ id: 'fusion', analysis_models: ['cheap', 'dear'] }] }, { type: 'openrouter', allowed: ['cheap'] }],
    [
      { plugins: [{ id: 'fusion', analysis_models: ['cheap'], model: 'dear' }] },
      { type: 'openrouter', allowed: ['cheap'] },
    ],
    [{ plugins: [{ id: 'fusion' }] }, { type: 'openrouter', allowed: ['cheap'] }],
    [{ plugins: [{ id: 'auto-router', allowed_models: ['ch*'] }] }, { type: 'openrouter', allowed: ['cheap'] }],
    [{ plugins: [{ id: 'auto-router' }] }, { type: 'openrouter', allowed: ['cheap'] }],
  ])('%j, not allowed → model_not_allowed', (body, setting) => {
    const reportsCost = setting.type === 'openrouter';
    expect(outcome(body, { ...setting, reportsCost })).toContain('does not allow');
    expect(outcome(body, { ...setting, reportsCost, allowed: ['cheap', 'dear', 'gpt-image-2', '*', 'ch*'] })).toMatch(
      /^[12] models$/,
    );
  });

  it.each<[object, string]>([
    [advisor({ model: 'unknown' }), 'The model "unknown" of tools.0.model has no price'],
    [{ tools: [{ type: 'image_generation', model: 'unknown' }] }, 'has no price'],
    [advisor({ model: 5 }), 'tools.0.model: must be the name of a model'],
    [advisor({ model: '' }), 'tools.0.model: must be the name of a model'],
    [advisor({ model: 'ft:mine' }), 'tools.0.model: is an object stored'],
    [advisor({ model: 'x'.repeat(10_000) }), 'tools.0.model: has more than'],
  ])('%j → refused, naming the place', (body, message) => {
    expect(outcome(body)).toContain(message);
  });

  it.each<[object, Setting]>([
    [{ tools: [{ type: 'function', name: 'f', model: 'dear', parameters: { model: 'dear' } }] }, {}],
    [{ tools: [{ name: 'mine', input_schema: { properties: { model: { type: 'string' } } } }] }, {}],
    [{ tools: [{ type: 'web_search', filters: { model: 'x' } }] }, {}],
    [{ tools: [{ type: 'mcp', headers: { model: 'x' } }] }, {}],
    [{ tools: [{ type: 'openrouter:web_search' }] }, { type: 'openrouter' }],
    [{ plugins: [{ id: 'web' }, { id: 'fusion', enabled: false }] }, { type: 'openrouter' }],
    [{ plugins: [{ id: 'fusion' }] }, { type: 'openai' }],
    [{ tools: [{ type: 'image_generation' }] }, { type: 'xai' }],
  ])('%j → names no model', (body, setting) => {
    expect(outcome(body, { ...setting, allowed: ['cheap'] })).toBe('0 models');
  });

  it('ambiguous tools → refused if they name models', () => {
    const twice = '{"tools":[{"type":"advisor_20260301","model":"cheap","model":"dear"}]}';
    expect(outcome(twice)).toContain('GatewayError');
    expect(outcome(twice)).not.toContain('models');
  });

  it('their possible cost → part of the maximum cost, for each time they may run', () => {
    const alone = maxCostOf(CHEAP, OWN);
    const once = maxCostOf(CHEAP, judged(advisor({ max_tokens: 100 })));
    expect(once - alone).toBe(1_500 * 15_000 + 100 * 75_000);
    const thrice = maxCostOf(CHEAP, judged(advisor({ max_tokens: 100, max_uses: 3 })));
    expect(thrice - alone).toBe(3 * (once - alone));
    expect(maxCostOf(CHEAP, judged(advisor(), { cap: 100 })) - alone).toBe(once - alone);
  });
});

describe('the output ceiling of a tool’s model', () => {
  const edited = async (body: object | string, cap: number | undefined) => {
    const scan = scanJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), REQUEST_NAMES);
    const { tools } = validateCostMembers(scan, 'anthropic_messages');
    return applyEdits(scan.bytes, await limitedToolEdits(scan, tools, cap)).toString();
  };

  it('missing or null → filled in, other bytes unchanged', async () => {
    const text = '{"tools": [{"name":"n","input_schema":{}}, {"type":"advisor_20260301","model":"dear", "x":1.0}]}';
    expect(await edited(text, 64)).toBe(text.replace('1.0}', '1.0,"max_tokens":64}'));
    expect(await edited(advisor({ max_tokens: null }), 64)).toBe(JSON.stringify(advisor({ max_tokens: 64 })));
  });

  it('above → refused; below, or without a ceiling → unchanged', async () => {
    await expect(edited(advisor({ max_tokens: 65 }), 64)).rejects.toThrow('tools.0.max_tokens: 65 is above the 64');
    await expect(edited(advisor({ max_tokens: 'x' }), 64)).rejects.toThrow('tools.0.max_tokens: must be');
    expect(await edited(advisor({ max_tokens: 64 }), 64)).toBe(JSON.stringify(advisor({ max_tokens: 64 })));
    expect(await edited(advisor({ max_tokens: 65 }), undefined)).toBe(JSON.stringify(advisor({ max_tokens: 65 })));
  });
});
