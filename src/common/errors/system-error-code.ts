/** The `code` of an error from Postgres (SQLSTATE), the driver or the system (`ECONNREFUSED`), if any. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
