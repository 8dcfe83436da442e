/** How to configure the address in a client: what to do, and what to copy. */
export interface AiClient {
  readonly name: string;
  readonly steps: readonly string[];
  readonly code?: { readonly label: string; readonly text: string };
}

const APPROVE = 'The client opens a page of this console. Choose the account and what the client may do, and approve.';
const NAME = 'gateway';

/** The common clients, with the commands and files that they read. */
export function aiClients(address: string): readonly AiClient[] {
  return [
    {
      name: 'Claude',
      steps: [
        'In Claude, open Settings, then Connectors, and choose “Add custom connector”.',
        'Paste the address above as the URL of the server, add it, and choose “Connect”.',
        APPROVE,
      ],
    },
    {
      name: 'ChatGPT',
      steps: [
        'In ChatGPT, open Settings, then Apps & Connectors, and turn on the developer mode under “Advanced settings”.',
        'Create a connector with the address above as its MCP server URL, and OAuth as its authentication.',
        APPROVE,
      ],
    },
    {
      name: 'Cursor',
      steps: ['Add the server to ~/.cursor/mcp.json, then choose “Connect” in the MCP settings of Cursor.', APPROVE],
      code: { label: '~/.cursor/mcp.json', text: json({ mcpServers: { [NAME]: { url: address } } }) },
    },
    {
      name: 'VS Code',
      steps: ['Add the server to .vscode/mcp.json of a workspace, and start it from the file.', APPROVE],
      code: { label: '.vscode/mcp.json', text: json({ servers: { [NAME]: { type: 'http', url: address } } }) },
    },
    {
      name: 'Claude Code',
      steps: ['Run the command, then /mcp in Claude Code, and choose the server to authenticate.', APPROVE],
      code: { label: 'In a terminal', text: `claude mcp add --transport http ${NAME} ${address}` },
    },
    {
      name: 'Codex',
      steps: [
        'Create a management key below, and set it as GATEWAY_KEY in the environment in which Codex runs.',
        'Run the command. Codex sends the key with every call; revoke it here to end the access.',
      ],
      code: {
        label: 'In a terminal',
        text: `codex mcp add ${NAME} --url ${address} --bearer-token-env-var GATEWAY_KEY`,
      },
    },
  ];
}

function json(value: object): string {
  return JSON.stringify(value, null, 2);
}
