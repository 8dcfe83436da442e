import { describe, expect, it } from '@jest/globals';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { defaultPathPolicy, matchPath } from '../path-policy.rules.js';
import { credentialHeaders, dialectOf } from '../provider-dialect.js';
import { isProviderType, PROVIDER_TYPES } from '../provider-types.js';
import { defineProviderTypes } from './define-provider-types.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';

const TRUSTED = parseTrustedHosts('');

function aType(name: string, members: Partial<ProviderTypeDefinition> = {}): ProviderTypeDefinition {
  return { name, label: name, baseUrl: 'https://models.acme.com/', apiStyles: ['chat_completions'], ...members };
}

function defineTypes(...definitions: ProviderTypeDefinition[]): void {
  defineProviderTypes(definitions, TRUSTED);
}

/** The registered type of that name. */
function typeOf(name: string) {
  if (!isProviderType(name)) throw new Error(`${name} is no provider type`);
  return name;
}

describe('defineProviderTypes', () => {
  it('a new type → at the end of the list, with its own dialect and default policy', () => {
    expect(isProviderType('one')).toBe(false);
    defineTypes(aType('one', { credentialHeader: 'x-one-key', extraPaths: ['v1/rank'] }));
    expect(PROVIDER_TYPES.at(-1)).toBe('one');
    expect(PROVIDER_TYPES).toHaveLength(17);
    const dialect = dialectOf(typeOf('one'));
    expect(dialect).toMatchObject({ type: 'one', label: 'one', capStyle: 'chat_completions', probe: null });
    expect([dialect.credentialValue('k'), dialect.capFieldForChat]).toEqual(['k', 'max_tokens']);
    expect(dialect.reportsCost('chat_completions')).toBe(false);
    expect(credentialHeaders()).toContain('x-one-key');
    expect(matchPath(defaultPathPolicy(typeOf('one')), 'v1/rank')).toBeDefined();
  });

  it('the same facts again, as for a second service of the process → no further change', () => {
    defineTypes(aType('again'));
    const before = [...PROVIDER_TYPES];
    const dialect = dialectOf(typeOf('again'));
    defineTypes(aType('again'));
    expect(PROVIDER_TYPES).toEqual(before);
    expect(dialectOf(typeOf('again'))).toBe(dialect);
  });

  it.each(['openai', 'again'])('%s with other facts → refused: the name is taken', (name) => {
    defineTypes(aType('again'));
    expect(() => defineTypes(aType(name, { label: 'Other' }))).toThrow(
      `Provider type "${name}": name is taken by another provider type`,
    );
  });

  it('the same name twice → refused, even with the same facts', () => {
    expect(() => defineTypes(aType('twice'), aType('twice'))).toThrow('Provider type "twice": name is defined twice');
  });

  it('one of several is wrong → none is defined', () => {
    expect(() => defineTypes(aType('right'), aType('wrong', { label: '' }))).toThrow('Provider type "wrong": label');
    expect(isProviderType('right')).toBe(false);
  });

  it('the service has stopped → its types are gone; those of another service stay until it stops too', () => {
    const before = [...PROVIDER_TYPES];
    const removeFirst = defineProviderTypes([aType('shared'), aType('own')], TRUSTED);
    const removeSecond = defineProviderTypes([aType('shared')], TRUSTED);
    removeFirst();
    expect([isProviderType('own'), isProviderType('shared')]).toEqual([false, true]);
    const shared = dialectOf(typeOf('shared'));
    removeSecond();
    expect(PROVIDER_TYPES).toEqual(before);
    expect(() => dialectOf(shared.type)).toThrow('unknown provider type');
    defineTypes(aType('shared', { label: 'Other' }));
    expect(dialectOf(typeOf('shared')).label).toBe('Other');
  });
});
