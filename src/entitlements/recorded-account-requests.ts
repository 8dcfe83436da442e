/** Port to what is recorded of an account's requests. The room that records usage implements it. */
export abstract class RecordedAccountRequests {
  /**
   * Requests of all its applications, deleted ones included, that were not refused and are stored.
   *
   * @param day the first UTC day that counts, `YYYY-MM-DD`.
   */
  abstract countSince(organizationId: string, day: string): Promise<number>;
}
