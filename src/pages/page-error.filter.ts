import { Catch } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { ShownErrorFilter } from '../common/errors/shown-error.filter.js';
import { html } from './html.js';
import { render } from './page.js';

/** Shows errors of pages as a page. */
@Catch()
export class PageErrorFilter extends ShownErrorFilter {
  protected readonly contentType = 'text/html; charset=utf-8';

  protected bodyOf({ message }: GatewayError): string {
    const body = html`<h1>This did not work</h1>
<p role="alert">${message}</p>
<p class="note">Go back to try again, or begin anew where you came from.</p>`;
    return render({ title: 'Error', body });
  }
}
