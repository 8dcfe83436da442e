import { DataSource } from 'typeorm';

/**
 * Connections for statements that nobody's request waits a moment for: storing events, the nightly work, and the few
 * management calls that change thousands of rows. They may run for 10 seconds; those of {@link DataSource} for 1.5.
 */
export abstract class BackgroundDataSource extends DataSource {}
