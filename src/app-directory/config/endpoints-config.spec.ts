import { describe, expect, it } from '@jest/globals';
import type { RawObject } from '../../../test/support/apps/app-configs.js';
import { endpointsConfig } from './endpoints-config.js';

const least = { api_style: 'responses', provider: 'openai', model: 'gpt-4.1' };
const read = (changes: RawObject) => endpointsConfig({ e: { ...least, ...changes } }, 'n').e;

describe('named endpoint', () => {
  it('responses style, minimal form → no params, no fallback, no ceiling', () => {
    expect(read({})).toStrictEqual({ ...least, params: {}, fallback: [] });
  });

  it('transcription style, minimal form → no fallback', () => {
    expect(read({ api_style: 'transcription' })).toStrictEqual({ ...least, api_style: 'transcription', fallback: [] });
  });

  it('params → equal', () => {
    const params = { tools: [{ type: 'function', parameters: { type: 'object' } }], temperature: null };
    expect(read({ params })).toHaveProperty('params', params);
  });

  it('params with a schema of members named constructor and prototype → accepted unchanged', () => {
    const schema = '{"type":"object","properties":{"constructor":{"type":"string"},"prototype":{"type":"null"}}}';
    const params: unknown = JSON.parse(`{"text":{"format":{"schema":${schema}}}}`);
    expect(JSON.stringify(read({ params }))).toContain(schema);
  });

  it.each([
    [{ api_style: 'audio_transcription' }, 'n.e.api_style: must be "responses" or "transcription"'],
    [{ api_style: undefined }, 'n.e.api_style: is required'],
    [{ provider: 'Open AI' }, 'n.e.provider: must be a provider slug'],
    [{ provider: undefined }, 'n.e.provider: is required'],
    [{ model: ' ' }, 'n.e.model: must not be blank'],
    [{ model: 'm'.repeat(201) }, 'n.e.model: must have at most 200 characters'],
    [{ params: [] }, 'n.e.params: must be an object'],
    [{ params: null }, 'n.e.params: must be an object'],
    [{ max_output_tokens: 0 }, 'n.e.max_output_tokens: must be at least 1'],
    [{ fallback: {} }, 'n.e.fallback: must be a list'],
    [{ fallback: Array(11).fill({ provider: 'a', model: 'b' }) }, 'n.e.fallback: must have at most 10 entries'],
    [{ fallback: [{ provider: 'a' }] }, 'n.e.fallback.0.model: is required'],
    [{ fallback: [{ provider: 'a', model: 'b', params: {} }] }, 'n.e.fallback.0.params: is not a known field'],
    [{ api_style: 'transcription', params: {} }, 'n.e.params: only with api_style "responses"'],
    [{ api_style: 'transcription', max_output_tokens: 1 }, 'n.e.max_output_tokens: only with api_style "responses"'],
    [{ stream: true }, 'n.e.stream: is not a known field'],
  ])('%j → %s', (changes, message) => {
    expect(() => read(changes)).toThrow(message);
  });
});

describe('endpoint slug', () => {
  it.each(['a', '-', '0', 'x'.repeat(64), 'tostring'])('%s → accepted', (slug) => {
    expect(Object.keys(endpointsConfig({ [slug]: least }, 'n'))).toEqual([slug]);
  });

  it.each(['', 'A', 'a_b', 'a/b', 'x'.repeat(65), 'a '])('%j → refused', (slug) => {
    expect(() => endpointsConfig({ [slug]: least }, 'n')).toThrow('must be an endpoint slug');
  });

  it.each(['constructor', 'prototype', '__proto__'])('%s → refused', (slug) => {
    expect(() => endpointsConfig(JSON.parse(`{"${slug}":{}}`), 'n')).toThrow(`n.${slug}: is a reserved name`);
  });
});
