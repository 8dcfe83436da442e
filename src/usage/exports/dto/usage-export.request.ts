import { OneOf, Text } from '../../../common/fields/fields.js';
import { EXPORT_FORMATS, type ExportFormatName } from '../export-formats.rules.js';
import type { AskedExport } from '../usage-exports.service.js';

/** Longer than every time and day. */
const TIME_MAX = 40;

export class UsageExportManifestRequest {
  @OneOf(EXPORT_FORMATS, {
    optional: true,
    description:
      '`csv` when absent; `ndjson`: one JSON object per line; `focus`: CSV with columns of FOCUS, without refusals.',
  })
  format?: ExportFormatName;

  @Text({
    max: TIME_MAX,
    optional: true,
    description: 'Start: a UTC day or a time with its zone; 29 days before the day of `until` when absent.',
  })
  since?: string;

  @Text({
    max: TIME_MAX,
    optional: true,
    description: 'End, exclusive: a UTC day, of which it is the start, or a time with its zone; now when absent.',
  })
  until?: string;

  toAsked(): AskedExport {
    const { format = 'csv', since, until } = this;
    return { format, since, until };
  }
}

export class UsageExportRequest extends UsageExportManifestRequest {
  @Text({ max: 100, optional: true, description: '`X-Next-Cursor` of the page before; the first page when absent.' })
  cursor?: string;
}
