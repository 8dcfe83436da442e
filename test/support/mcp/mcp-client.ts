import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Every revision family that clients speak: one that names its revision in every request, one with a handshake. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;

export type Revision = (typeof REVISIONS)[number];

/** The result of a tool, as far as tests check it. */
export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on bodies of any route.
  readonly body: any;
}

/** A third-party client, not connected yet. */
export function newMcpClient(revision: Revision): Client {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  return new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
}

/** The same, with a bearer. */
export class McpTestClient {
  private constructor(
    readonly client: Client,
    /** The content types of all answers so far. */
    readonly contentTypes: readonly (string | null)[],
  ) {}

  static async connect(baseUrl: string, bearer: string, revision: Revision = '2026-07-28'): Promise<McpTestClient> {
    const contentTypes: (string | null)[] = [];
    const client = newMcpClient(revision);
    const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${bearer}` } },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 200) contentTypes.push(response.headers.get('content-type'));
        return response;
      },
    });
    await client.connect(transport);
    return new McpTestClient(client, contentTypes);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<ToolResult> {
    const result = (await this.client.callTool({ name, arguments: args })) as CallToolResult;
    const [content] = result.content;
    const text = content?.type === 'text' ? content.text : '';
    return { isError: result.isError ?? false, text, body: result.structuredContent };
  }

  async toolNames(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }
}
