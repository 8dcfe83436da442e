const MOST_ATTEMPTS = 3;

/**
 * Passes with the first of three attempts that does. For promises of a time: a service that is too slow fails each of
 * them, a machine that is busy with something else for a moment does not. An attempt ends as it began.
 */
export async function inTime(attempt: () => Promise<void>): Promise<void> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (made === MOST_ATTEMPTS) throw error;
    }
  }
}
