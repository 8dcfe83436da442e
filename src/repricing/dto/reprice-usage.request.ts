import { Flag, OneOf, Verbatim } from '../../common/fields/fields.js';
import { Month } from '../../common/fields/list-fields.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import type { RepriceOrder } from '../usage-reprice.service.js';

export class RepriceUsageRequest {
  @OneOf(PROVIDER_TYPES, { description: 'Type of the provider that served.' })
  provider: ProviderType;

  @Verbatim({ max: 200, description: 'The canonical model.' })
  model: string;

  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.', optional: false })
  month: string;

  @Flag({ optional: true, description: 'Write the new costs; only say what they would be when absent.' })
  apply?: boolean;

  toOrder(): RepriceOrder {
    const { provider, model, month, apply = false } = this;
    return { provider, model, month, apply };
  }
}
