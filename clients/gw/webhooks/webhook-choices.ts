/** Whether events are sent. */
export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;
/** Statuses of a delivery. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'disabled'] as const;
