import type { Locator } from 'playwright-core';

/** What a person does to reach something: each click, choice or text is one act. */
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
