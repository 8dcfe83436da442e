/** Says whether an unknown error means that a dependency is away; bound by the platform. */
export abstract class ServiceTrouble {
  abstract isServiceTrouble(error: unknown): boolean;
}
