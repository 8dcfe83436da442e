import {
  type AndroidChanges,
  applicationId,
  PACKAGE_NAME,
  rootOfTrust,
  SIGNING_CERTIFICATE,
} from '../../support/client-auth/devices/android.js';
import { AndroidPhone } from '../../support/client-auth/devices/android-phone.js';
import { integer } from '../../support/client-auth/devices/der-writer.js';
import { type AppleSignals, withSignals } from '../../support/client-auth/devices/device.js';
import { Phone } from '../../support/client-auth/devices/phone.js';
import type { MobileWorld } from '../../support/client-auth/exchange/mobile-world.js';

/** Attempts with the same proof, reason and claimed version. */
export interface Refused {
  readonly proof: string | null;
  readonly reason: string;
  readonly app_version: string | null;
  readonly attempts: number;
}

/** A device: registers and exchanges, the same each time. */
interface Member {
  readonly attempts: number;
  act(): Promise<void>;
}

const VERSIONS = [undefined, '3.0', '3.1', '3.10', 'beta'];
/** How many devices act at once. */
const AT_ONCE = 8;

const hardware = (tag: number, value: Buffer): AndroidChanges => ({
  description: (key) => {
    key.hardware[tag] = value;
  },
});
const application = (name: string, version: number): AndroidChanges => ({
  description: (key) => {
    key.software[709] = applicationId({ [name]: version }, [SIGNING_CERTIFICATE]);
  },
});

/** The properties of an Android phone; at most one flaw. */
const ANDROID: readonly AndroidChanges[] = [
  {},
  {},
  hardware(704, rootOfTrust({ state: 1 })),
  hardware(706, integer(202_510)),
  application(PACKAGE_NAME, 41),
  application('com.example.other', 42),
];
const APPLE: readonly (AppleSignals & { readonly environment?: 'development' })[] = [
  { category: 4, version: '2.10' },
  { category: 4, version: '2.10.1' },
  { category: 2, version: '2.10' },
  { category: 4, version: '2.9' },
  { category: 4, version: 'beta' },
  {},
  { category: 4, version: '3', environment: 'development' },
];
const SIGNATURES = ['right', 'right', 'right', 'wrong', 'never registered'] as const;

/** Devices with known properties that register and exchange, from a seed. */
export class ProvingFleet {
  private readonly members: readonly Member[];
  /** Attempts of one round. */
  readonly made: number;

  constructor(
    private readonly world: MobileWorld,
    private readonly appId: string,
    devices: number,
    seed: number,
  ) {
    const random = randomOf(seed);
    const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    this.members = Array.from({ length: devices }, () => {
      const version = one(VERSIONS);
      const headers: Record<string, string> = version === undefined ? {} : { 'x-app-version': version };
      const signature = one(SIGNATURES);
      return random() < 0.5
        ? this.android(one(ANDROID), signature, headers)
        : this.apple(one(APPLE), signature, headers);
    });
    this.made = this.members.reduce((sum, { attempts }) => sum + attempts, 0);
  }

  /** One round: each device makes its attempts, several devices at once. */
  async attempts(): Promise<void> {
    const waiting = [...this.members];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) await member.act();
      }),
    );
  }

  /** The refusals since the fleet began its round. @param skipped rows of earlier rounds, by their id. */
  async refusedAfter(lastId: string): Promise<Refused[]> {
    const rows: (Omit<Refused, 'attempts'> & { readonly count: string })[] = await this.world.dataSource.query(
      `SELECT proof, reason, app_version, count(*) AS count FROM auth_events
       WHERE app_id = $1 AND id > $2 AND outcome <> 'ok' GROUP BY 1, 2, 3`,
      [this.appId, lastId],
    );
    return rows.map(({ count, ...part }) => ({ ...part, attempts: Number(count) }));
  }

  /** The last event so far. */
  async lastId(): Promise<string> {
    const [row] = await this.world.dataSource.query('SELECT max(id) AS id FROM auth_events WHERE app_id = $1', [
      this.appId,
    ]);
    return row.id;
  }

  private android(
    changes: AndroidChanges,
    signature: (typeof SIGNATURES)[number],
    headers: Record<string, string>,
  ): Member {
    const phone = new AndroidPhone(this.world, this.appId, this.world.android);
    const stranger = this.world.android.device();
    const act = async () => {
      if (signature !== 'never registered') await phone.register({ changes, headers });
      const members = signature === 'wrong' ? { signature: stranger.sign(this.appId, 'x') } : {};
      await phone.exchange({ headers, members });
    };
    return { attempts: signature === 'never registered' ? 1 : 2, act };
  }

  private apple(
    { environment = undefined, ...signals }: (typeof APPLE)[number],
    signature: (typeof SIGNATURES)[number],
    headers: Record<string, string>,
  ): Member {
    const phone = new Phone(this.world, this.appId, this.world.vendor);
    const authenticatorData = withSignals(signals);
    const act = async () => {
      if (signature !== 'never registered') {
        const registration = await phone.registration({ environment, changes: { authenticatorData } });
        await phone.post('register', registration, headers);
      }
      const changes = { authenticatorData, ...(signature === 'wrong' && { clientData: '{}' }) };
      await phone.post('token', await phone.proof({ changes }), headers);
    };
    return { attempts: signature === 'never registered' ? 1 : 2, act };
  }
}

/** In a fixed order, with the fields that both kinds of lists have. */
export function sorted(parts: readonly Refused[]): string[] {
  return parts
    .map(({ proof, reason, app_version, attempts }) => JSON.stringify([proof, reason, app_version, attempts]))
    .toSorted();
}

/** Numbers from 0 to below 1, the same for the same seed: xorshift of 32 bits. */
function randomOf(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
