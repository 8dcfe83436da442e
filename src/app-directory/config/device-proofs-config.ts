import { ApiSchema } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, Optional, objectOf, Required } from '../../common/fields/config-fields.js';
import {
  described,
  distinct,
  distinctWords,
  flag,
  integer,
  listOf,
  oneOf,
  refined,
  text,
} from '../../common/fields/config-values.js';
import { AppAttest, dottedNumbers } from './app-attest-config.js';

const MAX_PACKAGES = 20;
const MAX_CERTIFICATES = 20;
const MAX_PACKAGE_NAME_LENGTH = 223;
const PACKAGE_NAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/;
const CERTIFICATE_HASH = /^[0-9A-Fa-f]{64}$/;
const MAX_CATEGORIES = 20;
const MAX_CATEGORY = 0xffff_ffff;
const FIRST_PATCH = 201_001;
const LAST_PATCH = 299_912;
const LEVELS = ['tee', 'strongbox'] as const;
const PROVISIONINGS = ['any', 'remote'] as const;
const DEVICE_VERDICTS = [
  ...(['MEETS_BASIC_INTEGRITY', 'MEETS_DEVICE_INTEGRITY', 'MEETS_STRONG_INTEGRITY'] as const),
  'MEETS_VIRTUAL_INTEGRITY',
] as const;
const DECODINGS = ['vendor', 'local'] as const;

/** The strictest first. */
export const PROOF_MODES = ['enforce', 'tier', 'observe'] as const;

/** The result of a failed proof: a refusal, a token with separate limits, or a token. */
export type ProofMode = (typeof PROOF_MODES)[number];

function ModeField() {
  return Default(oneOf(PROOF_MODES), 'enforce', {
    showDefault: true,
    description:
      '`enforce` refuses a failed proof. `observe` and `tier` give it a token that says `proof: none`; with `tier` it has the limits of `limits.unproven`. Devices choose the proof: an application is as strict as its loosest one.',
  });
}

const packageName = described(
  { type: 'string', pattern: PACKAGE_NAME.source, maxLength: MAX_PACKAGE_NAME_LENGTH },
  text({
    max: MAX_PACKAGE_NAME_LENGTH,
    pattern: PACKAGE_NAME,
    problem: 'must be an application id such as com.example.app',
  }),
);

const certificateHash = refined(
  text({ pattern: CERTIFICATE_HASH, problem: 'must be a SHA-256 of 64 hexadecimal digits, without colons' }),
  (hash) => hash.toLowerCase(),
);

const osPatch = refined(integer({ min: FIRST_PATCH, max: LAST_PATCH }), (month, path) => {
  const ofYear = month % 100;
  if (ofYear < 1 || ofYear > 12) throw invalidRequest(path, 'must be a year and month, YYYYMM');
  return month;
});

const categories = refined(
  listOf(integer({ min: 0, max: MAX_CATEGORY }), { min: 1, max: MAX_CATEGORIES }),
  (numbers, path) => {
    if (new Set(numbers).size < numbers.length) throw invalidRequest(path, 'must not name a category twice');
    return numbers;
  },
);

/** The Android devices and applications that key attestation accepts. */
@ApiSchema({ name: 'AppKeyAttestation' })
export class KeyAttestation {
  @Required(distinct(listOf(packageName, { min: 1, max: MAX_PACKAGES }), 'must not name a package twice'), {
    description: 'Application ids; one of them must be attested.',
  })
  readonly package_names: readonly string[];

  /** Lower case. */
  @Required(distinct(listOf(certificateHash, { min: 1, max: MAX_CERTIFICATES }), 'must not name a certificate twice'), {
    description:
      'SHA-256 of the certificates that sign the app, 64 hexadecimal digits each: your own and the one of the store. Returned in lower case.',
  })
  readonly signing_certificates: readonly string[];

  @Default(oneOf(LEVELS), 'tee', {
    showDefault: true,
    description: 'Where the key is stored: the trusted environment, or StrongBox, which fewer phones have.',
  })
  readonly min_security_level: 'tee' | 'strongbox';

  @Optional(osPatch, { description: 'Oldest security patch of the system, YYYYMM.' })
  readonly min_os_patch?: number;

  @Default(oneOf(PROVISIONINGS), 'any', {
    showDefault: true,
    description: '`remote`: only devices whose attesting key the vendor renews over the air; leaked ones expire.',
  })
  readonly provisioning: 'any' | 'remote';

  @Default(flag(), true, {
    showDefault: true,
    description:
      'False accepts systems that the device’s vendor did not sign. An unlocked bootloader is always refused.',
  })
  readonly verified_boot: boolean;

  @Optional(integer({ min: 1 }), {
    description: 'Lowest attested version code; older apps get 403 `app_version_too_old`.',
  })
  readonly min_version_code?: number;

  @ModeField()
  readonly mode: ProofMode;
}

/** App Attest as one of several proofs. */
@ApiSchema({ name: 'AppProofAppAttest' })
export class ProofAppAttest extends AppAttest {
  @Optional(categories, {
    description:
      'Allowed sources of the installation, as iOS and macOS 27 sign them: 2 TestFlight, 3 development, 4 App Store, 5 enterprise or ad hoc, and others.',
  })
  readonly allowed_categories?: readonly number[];

  @Optional(dottedNumbers, {
    description: 'Lowest signed `CFBundleVersion`, as dotted numbers; older apps get 403 `app_version_too_old`.',
  })
  readonly min_bundle_version?: string;

  @Optional(flag(), {
    description:
      'True refuses devices that sign neither, such as systems before 27; absent or false: they are accepted.',
  })
  readonly require_signals?: boolean;

  @ModeField()
  readonly mode: ProofMode;

  @Default(flag(), false, {
    showDefault: true,
    description:
      'True lets the client of Apple’s language-model framework sign in below the address of a provider of the Messages API; only with `app_install`.',
  })
  readonly framework_client: boolean;
}

/** App Attest of an application that takes nothing else, as one of several proofs. */
export function soleAppAttest(app_attest: AppAttest): { readonly app_attest: ProofAppAttest } {
  return { app_attest: { ...app_attest, mode: 'enforce', framework_client: false } };
}

/** A value of `deviceRecognitionVerdict`. */
export type DeviceVerdict = (typeof DEVICE_VERDICTS)[number];

/** The Play Integrity verdicts that vouch for a device and its copy of the application. */
@ApiSchema({ name: 'AppPlayIntegrity' })
export class PlayIntegrity {
  @Required(packageName, { description: 'Application id that the token must name.' })
  readonly package_name: string;

  /** Lower case. */
  @Optional(distinct(listOf(certificateHash, { min: 1, max: MAX_CERTIFICATES }), 'must not name a certificate twice'), {
    description:
      'SHA-256 of the certificates that may sign the app, 64 hexadecimal digits each. Absent: whatever the verdict allows. Returned in lower case.',
  })
  readonly certificates?: readonly string[];

  @Required(distinctWords(DEVICE_VERDICTS, 'must not name a verdict twice'), {
    description: 'Device verdicts that the token must contain, all of them.',
  })
  readonly require: readonly DeviceVerdict[];

  @Default(flag(), false, {
    showDefault: true,
    description:
      'True accepts copies that Google Play does not recognize, including repackaged ones unless `certificates` is set.',
  })
  readonly allow_unrecognized: boolean;

  @Default(flag(), false, {
    showDefault: true,
    description: 'True accepts users who did not get the app from Google Play.',
  })
  readonly allow_unlicensed: boolean;

  @Default(flag(), false, {
    showDefault: true,
    description: 'True accepts tokens whose verdicts were chosen in Play Console.',
  })
  readonly allow_testing: boolean;

  @Required(oneOf(DECODINGS), {
    description:
      'Who decodes tokens: the vendor, asked once per registration, or the gateway with the response keys of the app (classic requests only). Both need credentials.',
  })
  readonly decode: 'vendor' | 'local';

  @ModeField()
  readonly mode: ProofMode;
}

/** The proofs that an application accepts: at least one. */
@ApiSchema({ name: 'AppProofs' })
export class Proofs {
  @Optional(objectOf(ProofAppAttest), { description: 'App Attest, for Apple devices.' })
  readonly app_attest?: ProofAppAttest;

  @Optional(objectOf(KeyAttestation), { description: 'Key attestation, for Android devices.' })
  readonly key_attestation?: KeyAttestation;

  @Optional(objectOf(PlayIntegrity), { description: 'Play Integrity of Android devices.' })
  readonly play_integrity?: PlayIntegrity;
}

/** The name of a proof in a request. */
export type ProofName = keyof Proofs;

/** Every proof. */
export const PROOF_NAMES = ['app_attest', 'key_attestation', 'play_integrity'] as const satisfies readonly ProofName[];

/**
 * The proofs that a device may have meant. @param named null: a signature of an unknown key, so each proof that signs.
 */
export function meantProofs(named: ProofName | null): readonly ProofName[] {
  return named === null ? PROOF_NAMES.filter((name) => name !== 'app_attest') : [named];
}

export const proofsConfig = refined(objectOf(Proofs), (proofs, path) => {
  if (Object.keys(proofs).length === 0) throw invalidRequest(path, `must have ${PROOF_NAMES.join(' or ')}`);
  return proofs;
});
