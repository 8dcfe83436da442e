import { describe, expect, it } from '@jest/globals';
import { aiClients } from './ai-clients.rules';

const ADDRESS = 'https://gateway.example.com/mcp';

describe('aiClients', () => {
  it('every client → steps, with the URL in every text to copy', () => {
    const clients = aiClients(ADDRESS);
    expect(clients.map(({ name }) => name)).toEqual(['Claude', 'ChatGPT', 'Cursor', 'VS Code', 'Claude Code', 'Codex']);
    for (const { steps, code } of clients) {
      expect(steps.length).toBeGreaterThan(0);
      if (code !== undefined) expect(code.text).toContain(ADDRESS);
    }
  });

  it.each(['Cursor', 'VS Code'])('%s → a JSON file', (name) => {
    const text = aiClients(ADDRESS).find((client) => client.name === name)?.code?.text ?? '';
    expect(JSON.stringify(JSON.parse(text))).toContain(`"url":"${ADDRESS}"`);
  });
});
