import { describe, expect, it } from '@jest/globals';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { validateCostMembers } from './cost-members.rules.js';

function hosted(body: object, style: ApiStyle = 'responses'): readonly string[] {
  return validateCostMembers(scanJson(Buffer.from(JSON.stringify(body)), REQUEST_NAMES), style).hosted;
}

describe('hosted tools', () => {
  it.each<[ApiStyle, object[], string[]]>([
    [
      'responses',
      [{ type: 'function', name: 'f' }, { type: 'custom' }, { type: 'apply_patch' }, { type: 'local_shell' }],
      [],
    ],
    ['responses', [{ type: 'computer_use_preview' }, { type: 'shell', environment: { type: 'local' } }], []],
    ['responses', [{ type: 'web_search' }, { type: 'web_search' }, { type: 'shell' }], ['web_search', 'shell']],
    ['responses', [{ type: 'code_interpreter', container: { type: 'auto' } }], ['code_interpreter']],
    ['responses', [{ type: 'shell', environment: { type: 'container_auto', container_id: null } }], ['shell']],
    ['anthropic_messages', [{ name: 'f' }, { type: 'bash_20250124' }, { type: 'memory_20250818' }], []],
    [
      'anthropic_messages',
      [{ type: 'web_search_20250305' }, { type: 'text_editor_20250728' }],
      ['web_search_20250305'],
    ],
    ['gemini_native', [{ functionDeclarations: [] }, { function_declarations: [] }, { computer_use: {} }], []],
    ['gemini_native', [{ code_execution: {} }, { google_search: {} }], ['codeExecution', 'googleSearch']],
    ['gemini_interactions', [{ type: 'function', name: 'f' }, { type: 'computer_use' }], []],
    [
      'gemini_interactions',
      [{ type: 'google_search' }, { type: 'code_execution' }, { type: 'mcp_server', url: 'https://a.example' }],
      ['googleSearch', 'codeExecution', 'mcpServer'],
    ],
    ['anthropic_messages', [{ type: 'mcp_toolset' }, { type: 'computer_20250124' }], ['mcp_toolset']],
    [
      'gemini_native',
      [{ googleSearch: {}, functionDeclarations: [] }, { codeExecution: {} }],
      ['googleSearch', 'codeExecution'],
    ],
  ])('%s: %j → %j', (style, tools, expected) => {
    expect(hosted({ tools }, style)).toEqual(expected);
  });

  it.each([
    [{ web_search_options: {} }, ['web_search']],
    [{ search_parameters: { mode: 'on' } }, ['live_search']],
    [{ web_search_options: null, tools: null }, []],
    [{}, []],
  ])('%j → %j', (body, expected) => {
    expect(hosted(body, 'chat_completions')).toEqual(expected);
  });

  it.each([
    [{ tools: 'web_search' }, 'tools: must be an array'],
    [{ tools: { type: 'web_search' } }, 'tools: must be an array'],
  ])('unreadable → refused', (body, message) => {
    expect(() => hosted(body)).toThrow(message);
  });

  it('tools as large as the maximum body → read', () => {
    const parameters = { description: 'x'.repeat(1_000_000) };
    const tools = [...Array(5).fill({ type: 'function', parameters }), { type: 'web_search' }];
    expect(hosted({ tools })).toEqual(['web_search']);
  });
});
