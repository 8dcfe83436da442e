/** Formats of `gw usage export`, as the API names them. */
export const EXPORT_FORMATS = ['csv', 'ndjson', 'focus'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
