/** A management body as it was received: read within its bound, parsed only after the caller proved who they are. */
export class RawBody {
  constructor(
    readonly bytes: Buffer,
    readonly contentType: string,
  ) {}
}
