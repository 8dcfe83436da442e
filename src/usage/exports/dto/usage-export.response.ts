import { ApiProperty } from '@nestjs/swagger';
import { instantOf } from '../../../common/clock.js';
import type { ExportManifest } from '../usage-exports.service.js';

export class UsageExportManifestResponse {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Events, without a line of headings.' })
  rows: number;

  @ApiProperty({
    type: 'integer',
    description: 'Sum of `cost_nano_usd`, without estimates; exact up to 2^53.',
    example: 14_700_000,
  })
  sum_nano_usd: number;

  @ApiProperty({
    type: 'string',
    description: 'Of the concatenated pages, in hexadecimal.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  since: string;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'As requested, exclusive.' })
  until: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'End of the export, exclusive: `until`, or an earlier time after which events may still be stored.',
  })
  settled_until: string;

  @ApiProperty({
    type: 'boolean',
    description: 'False: `settled_until` is before `until`, or events of the period were deleted by age.',
  })
  complete: boolean;

  static from({ rows, sumNanoUsd, sha256, range, settledUntilMs, isComplete }: ExportManifest) {
    return Object.assign(new UsageExportManifestResponse(), {
      ...{ rows, sum_nano_usd: Number(sumNanoUsd), sha256 },
      since: instantOf(range.fromMs).toISOString(),
      until: instantOf(range.untilMs).toISOString(),
      settled_until: instantOf(settledUntilMs).toISOString(),
      complete: isComplete,
    });
  }
}
