import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';

/**
 * Serves the console, which is a client of the API (`web/`).
 *
 * Routes: the addresses of its pages, `/assets/:name`. It has no table and no route of data.
 */
@Module({ controllers: [ConsoleController], providers: [ConsoleFiles] })
export class ConsoleModule {}
