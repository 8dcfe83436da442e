/** The `code` of an error of Postgres (SQLSTATE), of the driver or of the system (`ECONNREFUSED`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
