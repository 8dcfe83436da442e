import { newOrganization, type Person } from '../accounts/people.js';
import { rawServerConfig } from '../apps/app-configs.js';
import type { World } from '../world.js';
import { McpTestClient, type Revision, type ToolResult } from './mcp-client.js';

/** An application without users, whose keys call. */
export const SERVER_APP = { name: 'From an AI client', config: rawServerConfig() };

/** An AI client with a key of an account of its own. */
export interface ChangeClient {
  readonly organizationId: string;
  readonly owner: Person;
  readonly key: string;
  readonly keyId: string;
  readonly mcp: McpTestClient;
}

export async function newChangeClient(world: World, revision?: Revision): Promise<ChangeClient> {
  const { organizationId, owner } = await newOrganization(world);
  const { body } = await owner.client.post('/v1/admin/keys', { name: 'The AI client' });
  const { plaintext: key, id: keyId } = body.key;
  const mcp = await McpTestClient.connect(world.baseUrl, key, revision);
  return { organizationId, owner, key, keyId, mcp };
}

/** Makes both calls of a tool that runs at its second call. */
export async function callTwice(
  mcp: McpTestClient,
  name: 'add_app' | 'add_app_key',
  args: Record<string, unknown>,
): Promise<ToolResult> {
  const { body } = await mcp.call(name, args);
  return mcp.call(name, { ...args, operation: body.operation });
}

/** Has an application made; its key waits to be revealed. */
export async function addApp({ mcp }: Pick<ChangeClient, 'mcp'>, name = SERVER_APP.name): Promise<ToolResult['body']> {
  const { isError, body } = await callTwice(mcp, 'add_app', { ...SERVER_APP, name });
  if (isError) throw new Error(JSON.stringify(body));
  return body;
}
