/** Detects errors of an unavailable dependency; provided by the platform. */
export abstract class ServiceTrouble {
  abstract isServiceTrouble(error: unknown): boolean;
}
