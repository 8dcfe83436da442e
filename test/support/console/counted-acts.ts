import type { Locator } from 'playwright-core';

/** The actions of a person to reach something: each click, choice or text is one action. */
export class CountedActs {
  count = 0;

  async click(target: Locator): Promise<void> {
    this.count++;
    await target.click();
  }

  async choose(target: Locator, label: string): Promise<void> {
    this.count++;
    await target.selectOption({ label });
  }
}
