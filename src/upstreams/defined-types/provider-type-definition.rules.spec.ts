import { describe, expect, it } from '@jest/globals';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import type { ProviderTypeDefinition } from './provider-type-definition.js';
import { factsOfDefinition } from './provider-type-definition.rules.js';

const NOBODY = parseTrustedHosts('');

const VALID: ProviderTypeDefinition = {
  name: 'acme',
  label: 'Acme',
  baseUrl: 'https://models.acme.com/v1',
  apiStyles: ['chat_completions'],
};

function factsOf(members: Partial<ProviderTypeDefinition>, trusted = NOBODY) {
  return factsOfDefinition({ ...VALID, ...members }, trusted);
}

describe('factsOfDefinition', () => {
  it('a valid definition → its facts, the address with one slash at its end', () => {
    expect(factsOf({ credentialHeader: 'api-key', author: 'Acme' })).toEqual({
      label: 'Acme',
      baseUrl: 'https://models.acme.com/v1/',
      apiStyles: ['chat_completions'],
      credentialHeader: 'api-key',
      author: 'Acme',
    });
  });

  it('every optional member → part of the facts', () => {
    const facts: Partial<ProviderTypeDefinition> = {
      apiStyles: ['responses', 'audio_transcription'],
      endpointPaths: [
        ['responses', 'openai/v1/responses'],
        ['transcription', 'v1/stt'],
      ],
      extraHeaders: [['x-tenant', 'a b']],
      probePath: 'v1/models',
      probeHeaders: [['x-version', '2']],
      extraPaths: ['v1/models/{model}:embed'],
      capStyle: 'responses',
      capFieldForChat: 'max_completion_tokens',
    };
    expect(factsOf(facts)).toMatchObject(facts);
  });

  it.each<[string, Partial<ProviderTypeDefinition>]>([
    ['name must be', { name: '' }],
    ['name must be', { name: 'Acme' }],
    ['name must be', { name: '-acme' }],
    ['name must be', { name: 'a'.repeat(64) }],
    ['name is reserved', { name: 'constructor' }],
    ['label must be', { label: ' ' }],
    ['label must be', { label: 'a'.repeat(101) }],
    ['author must be', { author: '' }],
    ['baseUrl must use https', { baseUrl: 'http://models.acme.com/' }],
    ['baseUrl must be an https URL', { baseUrl: 'models.acme.com' }],
    ['baseUrl must be a public host', { baseUrl: 'https://models.internal/' }],
    ['baseUrl must name a host', { baseUrl: 'https://10.0.0.1/' }],
    ['baseUrl must not contain "?"', { baseUrl: 'https://models.acme.com/?key=1' }],
    ['baseUrl must not contain "@"', { baseUrl: 'https://a:b@models.acme.com/' }],
    ['apiStyles must name a style', { apiStyles: [] }],
    ['apiStyles must be of', { apiStyles: ['chat' as 'other'] }],
    ['credentialHeader must be a header name', { credentialHeader: 'X-Key' }],
    ['credentialHeader must be a header name', { credentialHeader: 'a b' }],
    ['credentialHeader must not be host', { credentialHeader: 'host' }],
    ['credentialHeader must not be user-agent', { credentialHeader: 'user-agent' }],
    ['credentialHeader must not be x-end-user-id', { credentialHeader: 'x-end-user-id' }],
    ['credentialHeader must not be x-forwarded-for', { credentialHeader: 'x-forwarded-for' }],
    ['extraHeaders must not set authorization', { extraHeaders: [['authorization', 'x']] }],
    ['extraHeaders must not set content-length', { extraHeaders: [['content-length', '1']] }],
    ['extraHeaders must have names', { extraHeaders: [['X-A', '1']] }],
    ['extraHeaders must give x-a a value', { extraHeaders: [['x-a', 'a\r\nb: c']] }],
    [
      'extraHeaders must not name a header twice',
      {
        extraHeaders: [
          ['x-a', '1'],
          ['x-a', '2'],
        ],
      },
    ],
    ['probeHeaders must not set x-key', { credentialHeader: 'x-key', probeHeaders: [['x-key', '1']] }],
    ['probePath must be a plain path', { probePath: '/v1/models' }],
    ['probePath must be a plain path', { probePath: '../models' }],
    ['extraPaths must be plain paths', { extraPaths: ['v1//embeddings'] }],
    ['extraPaths may have {model} only once', { extraPaths: ['{model}/{model}'] }],
    ['endpointPaths must give responses a path', { endpointPaths: [['responses', 'v1/chat/completions']] }],
    ['endpointPaths must be of the apiStyles; responses', { endpointPaths: [['responses', 'v1/responses']] }],
    [
      'endpointPaths must not name a style twice',
      {
        apiStyles: ['responses'],
        endpointPaths: [
          ['responses', 'v1/responses'],
          ['responses', 'openai/v1/responses'],
        ],
      },
    ],
  ])('%s: %j', (problem, members) => {
    const name = JSON.stringify(members.name ?? 'acme');
    expect(() => factsOf(members)).toThrow(`Provider type ${name}: ${problem}`);
  });

  it('a private address → only if the operator trusts its host, and the refusal names the setting', () => {
    const baseUrl = 'http://models.internal:8080/';
    expect(() => factsOf({ baseUrl })).toThrow('TRUSTED_PRIVATE_HOSTS');
    expect(factsOf({ baseUrl }, parseTrustedHosts('models.internal:8080')).baseUrl).toBe(baseUrl);
  });
});
