import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';
import { DocumentationController } from './documentation.controller.js';
import { DocumentationFiles } from './documentation-files.js';
import { PageAssetsController } from './page-assets.controller.js';

/**
 * Serves the console, which is a client of the API (`web/`), and the documentation.
 *
 * Routes: the addresses of its pages, `/assets`, `/docs`. It has no table and no route of data.
 */
@Module({
  controllers: [ConsoleController, DocumentationController, PageAssetsController],
  providers: [ConsoleFiles, DocumentationFiles],
})
export class ConsoleModule {}
