/** Why a token could not be decoded, for no fault of the device. */
type TroubleReason = 'play_credentials_missing' | 'play_access_refused' | 'play_quota_exhausted' | 'play_unreachable';

/** The vendor cannot be asked, or does not answer; never a failed proof. */
export class PlayTrouble extends Error {
  /** @param detail for the log; nothing of an answer. */
  constructor(
    readonly reason: TroubleReason,
    readonly detail: string,
  ) {
    super(`${reason}: ${detail}`);
    this.name = 'PlayTrouble';
  }
}
