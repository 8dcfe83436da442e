const DELAY_MS = 500;
const FRAME_MS = 80;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\u001b[K';

/** A progress line, shown on a terminal after half a second. */
export class Progress {
  private timer: NodeJS.Timeout | undefined;
  private isShown = false;
  private frame = 0;

  constructor(private readonly stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>) {}

  /** @param doing undefined: nothing. */
  tell(doing: string | undefined): void {
    this.hide();
    if (doing === undefined || !this.stream.isTTY) return;
    const draw = () => {
      this.isShown = true;
      this.stream.write(`${CLEAR_LINE}${FRAMES[this.frame++ % FRAMES.length]} ${doing}`);
      this.timer = setTimeout(draw, FRAME_MS).unref();
    };
    this.timer = setTimeout(draw, DELAY_MS).unref();
  }

  hide(): void {
    clearTimeout(this.timer);
    if (this.isShown) this.stream.write(CLEAR_LINE);
    this.isShown = false;
  }
}
