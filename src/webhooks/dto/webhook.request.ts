import { DisplayName, Flag, JsonValue, OneOf, Text } from '../../common/fields/fields.js';
import { BeforeId, DEFAULT_PAGE_LIMIT, PageLimit } from '../../common/fields/list-fields.js';
import { FILTER_SCHEMA } from '../webhook.rules.js';
import { DELIVERY_STATUSES, type DeliveryFilter, type DeliveryStatus } from '../webhook-deliveries.repository.js';

const MAX_URL = 2_000;
const URL_TEXT = 'Where events are sent: https, or a host of `TRUSTED_PRIVATE_HOSTS`.';
const NAME_TEXT = 'For people.';
const ENABLED_TEXT = 'False: no event is sent.';

/** A filter of events. */
function EventFilter(): PropertyDecorator {
  return JsonValue({
    schema: { ...FILTER_SCHEMA, nullable: true },
    optional: true,
    nullable: true,
    description: 'Types such as `app_key.created`, or prefixes such as `app_key.*`. Null: every event.',
  });
}

/** A filter of applications. */
function AppFilter(): PropertyDecorator {
  return JsonValue({
    schema: { ...FILTER_SCHEMA, nullable: true },
    optional: true,
    nullable: true,
    description: 'Ids of applications; only events about them are sent. Null: every event.',
  });
}

export class CreateWebhookRequest {
  @Text({ max: MAX_URL, description: URL_TEXT })
  url: string;

  @DisplayName({ max: 100, optional: true, description: `${NAME_TEXT} The host of the URL when absent.` })
  name?: string;

  @EventFilter()
  events?: unknown;

  @AppFilter()
  apps?: unknown;

  @Flag({ optional: true, description: ENABLED_TEXT })
  enabled?: boolean;
}

export class UpdateWebhookRequest {
  @Text({ max: MAX_URL, optional: true, description: URL_TEXT })
  url?: string;

  @DisplayName({ max: 100, optional: true, description: NAME_TEXT })
  name?: string;

  @EventFilter()
  events?: unknown;

  @AppFilter()
  apps?: unknown;

  @Flag({ optional: true, description: `${ENABLED_TEXT} Undelivered events are dropped.` })
  enabled?: boolean;
}

export class ListDeliveriesRequest {
  @PageLimit('deliveries')
  limit?: number;

  @OneOf(DELIVERY_STATUSES, { optional: true, description: 'Only deliveries with this status.' })
  status?: DeliveryStatus;

  @BeforeId()
  before_id?: number;

  toFilter(): DeliveryFilter {
    return { limit: this.limit ?? DEFAULT_PAGE_LIMIT, beforeId: this.before_id, status: this.status };
  }
}
