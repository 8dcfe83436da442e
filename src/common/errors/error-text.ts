/** What a thrown value says, for a log line or a terminal. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
