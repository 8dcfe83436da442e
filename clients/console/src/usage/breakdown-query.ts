import { api, read, type Schemas } from '../api/client';
import { MOST_ROWS } from './breakdown.rules';

export type Dimension = Schemas['AccountBreakdownResponse']['by'];

interface Asked {
  readonly by: Dimension;
  readonly from: string;
  readonly to: string;
  readonly app?: string;
}

/** The largest parts of a period by one dimension. */
export const breakdownQuery = (query: Asked) => ({
  queryKey: ['usage', 'breakdown', query],
  queryFn: () => read(api.GET('/v1/admin/usage/breakdown', { params: { query: { ...query, limit: MOST_ROWS } } })),
});
