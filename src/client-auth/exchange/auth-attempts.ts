import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { type AppSnapshot, type ReadableApp, requireActive } from '../../app-directory/app-snapshot.js';
import type { ProofName } from '../../app-directory/config/device-proofs-config.js';
import type { CallGroups } from '../../app-directory/group-value.rules.js';
import { Clock } from '../../common/clock.js';
import { ServiceTrouble, toGatewayError } from '../../common/errors/framework-error.rules.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { recordedVersion } from '../../common/http/gateway-request.js';
import { type DeviceFacts, eventFacts } from '../devices/device-facts.rules.js';
import { type AuthEventDraft, SUCCESS, WOULD_REJECT } from '../events/auth-event.js';
import { AuthEvents } from '../events/auth-events.service.js';

/** The state of one attempt; the steps fill it in. */
export interface AuthAttempt {
  /** `X-App-Version` as sent. */
  readonly appVersion: string | null;
  /** See {@link AttemptedRequest}. */
  readonly isFrameworkClient: boolean;
  /** Set when the authentication method is known. */
  authMethod: AuthEventDraft['authMethod'];
  /** Set only when the user is authenticated. */
  userId: string | null;
  /** The groups of the user, which the identity token names; absent for users without an issuer. */
  groups?: CallGroups;
  /** The delay of a required claim in milliseconds, set on the success that ended the wait. */
  claimDelayMs: number | null;
  /** The proof that the device offers. */
  proof: ProofName | null;
  /** The facts of the proof that policies check. */
  facts: DeviceFacts | null;
  /** Why the proof failed, on a success that its mode allows; absent on any other. */
  failed?: GatewayError;
}

/** The attempt as the request describes it. */
export interface AttemptedRequest {
  readonly event: AuthEventDraft['event'];
  readonly appId: string;
  /** `X-App-Version` as sent; null too for the framework's client, whose version is attested or not known. */
  readonly appVersion: string | null;
  /** Whether the framework's client asks. Absent: no. */
  readonly isFrameworkClient?: true;
}

/** Runs attempts and records one event for each, whatever its result. */
@Injectable()
export class AuthAttempts {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly events: AuthEvents,
    private readonly trouble: ServiceTrouble,
    private readonly clock: Clock,
  ) {}

  /**
   * @param prove the steps after the check that the application is active.
   * @throws app_not_found without an event; app_disabled, internal_error and every error of `prove` with one.
   */
  async run<T>(request: AttemptedRequest, prove: (app: ReadableApp, attempt: AuthAttempt) => Promise<T>): Promise<T> {
    const startedMs = this.clock.monotonicMs();
    const app = await this.apps.find(request.appId);
    if (app === undefined) throw new GatewayError('app_not_found');
    const { appVersion, isFrameworkClient = false } = request;
    const attempt: AuthAttempt = {
      ...{ appVersion, isFrameworkClient, authMethod: null, userId: null, claimDelayMs: null },
      ...{ proof: null, facts: null },
    };
    try {
      const proven = await prove(requireActive(app), attempt);
      this.record(request, app, attempt, startedMs);
      return proven;
    } catch (thrown) {
      this.record(request, app, attempt, startedMs, thrown);
      throw thrown;
    }
  }

  private record(
    { event }: AttemptedRequest,
    app: AppSnapshot,
    attempt: AuthAttempt,
    startedMs: number,
    thrown?: unknown,
  ): void {
    const error = thrown === undefined ? attempt.failed : this.errorOf(thrown);
    const isAdmitted = thrown === undefined && error !== undefined;
    this.events.record({
      organizationId: app.organizationId,
      appId: app.id,
      userId: attempt.userId,
      event,
      authMethod: attempt.authMethod,
      outcome: isAdmitted ? WOULD_REJECT : (error?.code ?? SUCCESS),
      reason: error?.reason ?? null,
      appVersion: versionOf(attempt),
      latencyMs: Math.round(this.clock.monotonicMs() - startedMs),
      claimDelayMs: attempt.claimDelayMs,
      ...(takesProofs(app)
        ? { proof: attempt.proof, facts: eventFacts(attempt.facts, attempt.isFrameworkClient) }
        : { proof: null, facts: null }),
      createdAt: this.clock.now(),
    });
  }

  private errorOf(thrown: unknown): GatewayError {
    return toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
  }
}

/**
 * The version of the app that an attempt is of: of the framework's client the attested one.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
export function versionOf({ appVersion, facts, isFrameworkClient }: AuthAttempt): string | null {
  if (!isFrameworkClient) return appVersion;
  const attested = facts !== null && 'bundle_version' in facts ? facts.bundle_version : null;
  return attested && recordedVersion(attested);
}

/** Events of other applications are unchanged since before several proofs were supported. */
function takesProofs(app: AppSnapshot): boolean {
  return app.configError === null && app.config.authentication.type === 'device_proofs';
}
