import type { Schemas } from '../api/client';
import { durationText } from '../design/amounts.rules';

export type Delivery = Schemas['DeliveryResource'];

interface DeliveryMark {
  readonly label: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'neutral';
}

/** The options of the status filter of deliveries. */
export const DELIVERY_STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'disabled', label: 'Given up' },
] as const;

/** The status of a delivery; a failed one that is retried is marked as such. */
export function markOf({ status, attempts }: Pick<Delivery, 'status' | 'attempts'>): DeliveryMark {
  switch (status) {
    case 'delivered':
      return { label: 'Delivered', tone: 'good' };
    case 'failed':
      return { label: 'Failed', tone: 'bad' };
    case 'disabled':
      return { label: 'Given up', tone: 'neutral' };
    case 'pending':
      return attempts === 0 ? { label: 'Pending', tone: 'neutral' } : { label: 'Retrying', tone: 'warn' };
  }
}

/** The response of the endpoint to the last attempt, as `204 in 45 ms`. */
export function answerText({
  attempts,
  response_status: status,
  duration_ms: ms,
}: Pick<Delivery, 'attempts' | 'response_status' | 'duration_ms'>): string {
  if (attempts === 0) return '—';
  return `${status ?? 'no answer'}${ms === null ? '' : ` in ${durationText(ms)}`}`;
}

/** The result of a test. */
export function testText(delivery: Delivery): string {
  const { status, response_status: answer } = delivery;
  if (answer === null)
    return 'The endpoint did not answer. Check its address and certificate, and that it answers within 15 seconds.';
  const text = `The endpoint answered ${answerText(delivery)}.`;
  if (status === 'delivered') return `${text} It accepts events.`;
  const hint = answer >= 300 && answer < 400 ? ' Redirects are not followed.' : '';
  return `${text} Only a status from 200 to 299 counts as delivered.${hint}`;
}
