import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { metadataUrlOf, readMetadata, readRegistered } from './client.rules.js';

const ID = 'https://client.example.com/oauth/client.json';
const URL_OF_ID = new URL(ID);
const GOOD = { client_id: ID, client_name: 'A client', redirect_uris: ['http://127.0.0.1/callback'] };

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('metadataUrlOf', () => {
  it.each([ID, 'https://client.example.com:8443/c', 'https://client.example.com/c?v=1'])('%s → a URL', (id) => {
    expect(metadataUrlOf(id)?.href).toBe(id);
  });

  it.each([
    ['plain http', 'http://client.example.com/c'],
    ['no path', 'https://client.example.com/'],
    ['nothing behind the host', 'https://client.example.com'],
    ['a user', 'https://user@client.example.com/c'],
    ['a fragment', 'https://client.example.com/c#f'],
    ['an empty fragment', 'https://client.example.com/c#'],
    ['dots in the path', 'https://client.example.com/a/../c'],
    ['capitals in the host', 'https://Client.example.com/c'],
    ['a default port', 'https://client.example.com:443/c'],
    ['an IPv4 address', 'https://192.0.2.1/c'],
    ['a decimal address', 'https://3221225985/c'],
    ['an IPv6 address', 'https://[2001:db8::1]/c'],
    ['localhost', 'https://localhost/c'],
    ['a name below localhost', 'https://client.localhost/c'],
    ['a name of one label', 'https://client/c'],
    ['a trailing dot', 'https://client.example.com./c'],
    ['another scheme', 'ftp://client.example.com/c'],
    ['a backslash', 'https://client.example.com\\c'],
    ['more than 1024 characters', `https://client.example.com/${'c'.repeat(1_024)}`],
  ])('%s → none', (_name, id) => {
    expect(metadataUrlOf(id)).toBeUndefined();
  });
});

describe('readMetadata', () => {
  it('a document that repeats its URL → the client, with its host', () => {
    expect(readMetadata(URL_OF_ID, bytes({ ...GOOD, logo_uri: 'https://x.example/logo.png' }))).toEqual({
      ...{ id: ID, name: 'A client', domain: 'client.example.com', source: 'cimd' },
      redirectUris: GOOD.redirect_uris,
    });
  });

  it.each([
    ['another client_id', { ...GOOD, client_id: `${ID}x` }, 'names a client_id other'],
    ['no client_id', { ...GOOD, client_id: undefined }, 'names a client_id other'],
    ['a secret', { ...GOOD, client_secret: 'secret' }, 'client_secret'],
    ['a client that proves itself', { ...GOOD, token_endpoint_auth_method: 'client_secret_basic' }, 'none'],
    ['another grant', { ...GOOD, grant_types: ['authorization_code', 'password'] }, 'grant_types'],
    ['another response', { ...GOOD, response_types: ['token'] }, 'response_types'],
    ['no name', { ...GOOD, client_name: '' }, 'client_name'],
    ['a name of 201 characters', { ...GOOD, client_name: 'a'.repeat(201) }, 'client_name'],
    ['a name that turns text around', { ...GOOD, client_name: 'A \u202Etneilc' }, 'client_name'],
    ['a name of two lines', { ...GOOD, client_name: 'A\nclient' }, 'client_name'],
    ['no redirect URI', { ...GOOD, redirect_uris: [] }, 'redirect_uris'],
    ['51 redirect URIs', { ...GOOD, redirect_uris: Array(51).fill('http://127.0.0.1/') }, 'redirect_uris'],
    ['a redirect URI that is none', { ...GOOD, redirect_uris: ['http://127.0.0.1/', 'javascript:alert(1)'] }, '[1]'],
    ['a list', [GOOD], 'JSON object'],
    ['no JSON', 'hello', 'JSON object'],
    ['a member twice', `{"client_id":"${ID}","client_id":"${ID}"}`, 'JSON object'],
  ])('%s → refused with that reason', (_name, document, problem) => {
    expect(readMetadata(URL_OF_ID, bytes(document))).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('any document → a client or a problem', () => {
    const document = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({
        client_id: fc.constantFrom(ID, 'x'),
        client_name: fc.oneof(fc.string(), fc.constant('A client')),
        redirect_uris: fc.oneof(fc.jsonValue(), fc.constant(GOOD.redirect_uris)),
        grant_types: fc.oneof(fc.jsonValue(), fc.constant(['authorization_code'])),
      }),
    );
    fc.assert(
      fc.property(document, (sent) => {
        const found = readMetadata(URL_OF_ID, bytes(sent));
        if (!('problem' in found)) expect([found.id, found.name.length > 0]).toEqual([ID, true]);
      }),
    );
  });
});

describe('readRegistered', () => {
  it('entries → clients of the operator', () => {
    const { client_id: _, ...others } = GOOD;
    expect(readRegistered(bytes([{ ...others, client_id: 'desktop' }]))).toEqual([
      { id: 'desktop', name: 'A client', domain: null, source: 'registered', redirectUris: GOOD.redirect_uris },
    ]);
  });

  it.each([
    ['no list', {}, 'must be a JSON list'],
    ['an entry that is not an object', ['desktop'], 'must be a JSON list'],
    ['an unknown member', [{ ...GOOD, secret: 'x' }], '[0].secret: is not a known member'],
    ['the same id twice', [GOOD, GOOD], '[1].client_id: is given twice'],
    ['no id', [{ ...GOOD, client_id: undefined }], '[0].client_id'],
    ['a blank in the id', [{ ...GOOD, client_id: 'a client' }], '[0].client_id'],
    ['a wrong redirect URI', [{ ...GOOD, redirect_uris: ['http://example.com/'] }], '[0]: redirect_uris[0]'],
  ])('%s → the first problem, naming the entry', (_name, file, problem) => {
    expect(readRegistered(bytes(file))).toEqual({ problem: expect.stringContaining(problem) });
  });
});
