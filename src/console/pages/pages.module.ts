import { Module } from '@nestjs/common';
import { PageAssetsController } from './page-assets.controller.js';

/**
 * Building blocks of the server-rendered pages: markup, layout, style sheet, and the script that takes a proof out of the
 * address.
 *
 * Routes: `/assets/pages.css`, `/assets/pages.js`.
 */
@Module({ controllers: [PageAssetsController] })
export class PagesModule {}
