import { OneOf, Text, Verbatim } from '../../../common/fields/fields.js';
import { DEFAULT_PAGE_LIMIT, PageLimit } from '../../../common/fields/list-fields.js';
import { REFUSED_STATUSES, USAGE_STATUSES } from '../../recording/usage-event.js';
import type { AskedEvents, AskedPage } from '../account-events.service.js';
import { AccountUsageRequest } from './account-usage.request.js';

const STATUSES = [...USAGE_STATUSES, 'refused'] as const;

const CURSOR = /^\d{1,16}-\d{1,18}$/;

export class AccountEventsCsvRequest extends AccountUsageRequest {
  @OneOf(STATUSES, { optional: true, description: 'Only events with this status; `refused`: with any of `blocked_*`.' })
  status?: (typeof STATUSES)[number];

  @Text({ max: 100, optional: true, description: 'Only refusals with this error code.' })
  reason?: string;

  @Verbatim({ max: 1024, optional: true, description: 'Only events of this user id.' })
  user?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this named endpoint.' })
  endpoint?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this provider instance, or of this provider type.' })
  provider?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this canonical model.' })
  model?: string;

  @Text({ max: 200, optional: true, description: 'Only events of this application key id.' })
  key?: string;

  toFilter(): AskedEvents {
    const { status, reason, user, endpoint, provider, model, key, from, to } = this;
    const statuses = status === undefined ? undefined : status === 'refused' ? REFUSED_STATUSES : [status];
    return { statuses, reason, user, endpoint, provider, model, key, from, to };
  }
}

export class AccountEventsRequest extends AccountEventsCsvRequest {
  @PageLimit('events')
  limit?: number;

  @Text({
    max: 35,
    pattern: CURSOR,
    patternText: '`next` of the answer before',
    optional: true,
    description: 'Only older events: `next` of the answer before.',
  })
  before?: string;

  toPage(): AskedPage {
    const { limit = DEFAULT_PAGE_LIMIT, before } = this;
    const [createdAtUs = '', id = ''] = before?.split('-') ?? [];
    return { limit, before: before === undefined ? undefined : { createdAtUs, id } };
  }
}
