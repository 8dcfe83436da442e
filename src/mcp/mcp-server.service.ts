import { Injectable } from '@nestjs/common';
import type { McpAnswer, McpProtocol } from './mcp-protocol.js';
import { type ToolCaller, Tools } from './tools/tools.service.js';

/**
 * The protocol behind the MCP endpoint, loaded with its libraries at the first message: they take a tenth of the time
 * of a start, and many gateways never use them.
 */
@Injectable()
export class McpServer {
  private protocol: Promise<McpProtocol> | undefined;

  constructor(private readonly tools: Tools) {}

  /** @param message a JSON object. */
  async answer(caller: ToolCaller, message: object): Promise<McpAnswer> {
    this.protocol ??= import('./mcp-protocol.js').then((loaded) => new loaded.McpProtocol(this.tools));
    return (await this.protocol).answer(caller, message);
  }
}
