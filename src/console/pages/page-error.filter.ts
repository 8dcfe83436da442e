import { Catch } from '@nestjs/common';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { ShownErrorFilter } from '../../common/errors/shown-error.filter.js';
import { html } from './html.js';
import { render } from './page.js';

/** Pages of decided or expired requests: nothing failed, and there is nothing to retry. */
const ENDED: Partial<Record<ErrorCode, string>> = {
  already_completed: 'Completed',
  operation_denied: 'Declined',
  operation_expired: 'Expired',
};

/** Shows errors of pages as a page. */
@Catch()
export class PageErrorFilter extends ShownErrorFilter {
  protected readonly contentType = 'text/html; charset=utf-8';

  protected bodyOf({ code, message }: GatewayError): string {
    const title = ENDED[code];
    if (title !== undefined) {
      const body = html`<h1 data-ended>${title}</h1><p role="status">${message}</p><p class="note">You can close this page.</p>`;
      return render({ title, body });
    }
    const body = html`<h1>This did not work</h1>
<p role="alert">${message}</p>
<p class="note">Go back and try again, or start again from where you came.</p>`;
    return render({ title: 'Error', body });
  }
}
