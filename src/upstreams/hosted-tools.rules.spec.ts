import { describe, expect, it } from '@jest/globals';
import { counterFeeOf, isClientTool, itemFeeOf, toolFeeOf } from './hosted-tools.rules.js';

describe('tools and their fee', () => {
  it.each([
    ['web_search', 'web_search'],
    ['web_search_20250305', 'web_search'],
    ['web_search_preview_2025_03_11', 'web_search'],
    ['file_search', 'file_search'],
    ['tool_search_tool_regex_20251119', 'none'],
    ['code_execution_20250825', 'unknown'],
    ['codeExecution', 'none'],
    ['googleSearch', 'web_search'],
    ['googleMaps', 'unknown'],
    ['retrieval', 'unknown'],
    ['web_search_premium', 'unknown'],
    ['never_heard_of', 'unknown'],
    ['constructor', 'unknown'],
  ])('%s → %s', (type, fee) => {
    expect(toolFeeOf(type)).toBe(fee);
  });

  it('tools that the client runs → no fee, under versioned names too', () => {
    for (const type of [
      'function',
      'bash_20250124',
      'text_editor_20250728',
      'computer_use_preview',
      'memory_20250818',
    ]) {
      expect([type, isClientTool(type), toolFeeOf(type)]).toEqual([type, true, 'none']);
    }
    expect(['web_search', 'mcp', 'bash_code_execution', 'functions'].filter(isClientTool)).toEqual([]);
  });

  it('items and counters → priced with the fee of their tool', () => {
    expect(['web_search_call', 'mcp_call', 'x_search_call', 'message'].map(itemFeeOf)).toEqual([
      ...['web_search', 'none', 'unknown', 'none'],
    ]);
    expect(['web_search_requests', 'web_fetch_requests', 'code_execution_requests'].map(counterFeeOf)).toEqual([
      ...['web_search', 'none', 'unknown'],
    ]);
  });
});
