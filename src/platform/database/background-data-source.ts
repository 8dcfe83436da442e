import { DataSource } from 'typeorm';

/**
 * Connections for statements outside the request path: storing events, nightly jobs, and management calls that change
 * thousands of rows. Their statement timeout is 10 seconds; that of {@link DataSource} is 1.5.
 */
export abstract class BackgroundDataSource extends DataSource {}
