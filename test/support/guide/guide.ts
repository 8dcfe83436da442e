import { eventually } from '../eventually.js';
import { expectAnswer, expectLines, lastAnswer, memberOf } from './guide-answers.js';
import { blocksOf, type GuideBlock } from './guide-blocks.js';
import type { GuideShell } from './guide-shell.js';

/** An export that the reader completes: the prefix of its value, and where the value comes from. */
const PLACEHOLDER = /^export (\w+)=(\S*)\.\.\. +# (.+)$/gm;
const MEMBER = /^\w+(?:\.\w+)*$/;
/** A block without any of these only reads. A reader repeats it until what the guide shows is there. */
const CHANGES = / -d |-X |-F | -i |npm|node|export /;
const SHOWN_WITHIN_MS = 30_000;

/** Values of a reader that a guide cannot print. */
export interface Reader {
  readonly shell: GuideShell;
  /** What stands in the guide for something of the reader's own, such as an address, and what the reader has. */
  readonly own?: Readonly<Record<string, string>>;
  /** Values of exports whose comment names no member of the last answer. */
  readonly values?: Readonly<Record<string, string>>;
  /** What is done in place of the blocks that contain a text, or around them. */
  readonly steps?: Readonly<Record<string, (block: GuideBlock, walk: Walk) => Promise<void>>>;
}

/** A reader's way through one guide. */
export class Walk {
  /** What the last block that ran has printed. */
  output = '';
  private last: GuideBlock | undefined;
  private readonly used = new Set<string>();

  constructor(private readonly reader: Reader) {}

  /** Follows a guide from its first block to its last; fails where it does not do what it says. */
  static async through(path: string, reader: Reader): Promise<void> {
    const walk = new Walk(reader);
    const blocks = blocksOf(path);
    for (const [index, block] of blocks.entries()) await walk.follow(block, blocks[index + 1]);
    const { own = {}, values = {}, steps = {} } = reader;
    const unused = [own, values, steps].flatMap(Object.keys).filter((name) => !walk.used.has(name));
    if (unused.length > 0) throw new Error(`${path} has no ${unused.join(', ')}`);
  }

  /** Runs a block of commands. It succeeds, unless the guide shows that it is refused. */
  async run(block: GuideBlock, shown?: GuideBlock): Promise<void> {
    const { exitCode, output } = await this.reader.shell.run(this.completed(block.text));
    this.output = output;
    this.last = block;
    const isRefusal = shown?.text.includes('"error":{') === true;
    if ((exitCode === 0) === isRefusal) throw new Error(`${block.place} ended with ${exitCode}:\n${output}`);
  }

  /** A text of the guide with what is the reader's own in it. */
  private owned(text: string): string {
    return Object.entries(this.reader.own ?? {}).reduce((filled, [printed, real]) => {
      if (filled.includes(printed)) this.used.add(printed);
      return filled.replaceAll(printed, real);
    }, text);
  }

  private async follow(block: GuideBlock, next: GuideBlock | undefined): Promise<void> {
    const [name, step] = Object.entries(this.reader.steps ?? {}).find(([text]) => block.text.includes(text)) ?? [];
    if (name !== undefined && step !== undefined) {
      this.used.add(name);
      await step(block, this);
    } else if (block.language === 'sh') await this.run(block, next);
    else if (block.language === 'json') await this.compare(block, expectAnswer);
    else if (block.language === '') await this.compare(block, expectLines);
    else if (block.language !== 'text') throw new Error(`${block.place}: nobody says how to follow this block`);
  }

  /** What is shown is what the last commands have printed, or print once everything is recorded. */
  private async compare(shown: GuideBlock, compare: (output: string, shown: string) => void): Promise<void> {
    const { last } = this;
    if (last === undefined) throw new Error(`${shown.place}: no commands before it`);
    const differs = () => {
      try {
        compare(this.output, this.owned(shown.text));
        return undefined;
      } catch (error) {
        return error;
      }
    };
    if (differs() !== undefined && !CHANGES.test(last.text)) {
      await eventually(
        async () => {
          await this.run(last, shown);
          return differs() === undefined;
        },
        { withinMs: SHOWN_WITHIN_MS },
      ).catch(() => undefined);
    }
    const difference = differs();
    if (difference !== undefined) throw new Error(`${shown.place} shows something else: ${difference}`);
  }

  private completed(text: string): string {
    return this.owned(text).replaceAll(PLACEHOLDER, (_line, name: string, prefix: string, source: string) => {
      const value = MEMBER.test(source) ? memberOf(lastAnswer(this.output), source) : this.reader.values?.[name];
      if (!MEMBER.test(source)) this.used.add(name);
      if (value?.startsWith(prefix) !== true) throw new Error(`${name}: ${value} does not begin with ${prefix}`);
      return `export ${name}='${value}'`;
    });
  }
}
