import type { Locator } from 'playwright-core';

/** Counts the actions of a person. */
export class Acts {
  readonly done: string[] = [];

  async click(target: Locator): Promise<void> {
    this.done.push(`click ${target}`);
    await target.click();
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.done.push(`fill ${target}`);
    await target.fill(text);
  }

  async choose(target: Locator, option: string): Promise<void> {
    this.done.push(`choose in ${target}`);
    await target.selectOption(option);
  }
}
