import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { McpController } from './mcp.controller.js';
import { McpServer } from './mcp-server.service.js';
import { Tools } from './tools/tools.service.js';

/**
 * The Model Context Protocol for AI clients. A tool calls the controller method of a management route, so arguments,
 * checks and bodies are those of the route. Tools of changes call the operations of `src/cli/changes`.
 *
 * Routes: `/mcp`. Codes: auth_required, forbidden, not_found, invalid_request, provider_not_found; those of the routes
 * are in results of tools.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule],
  controllers: [McpController],
  providers: [McpServer, Tools],
})
export class McpModule {}
