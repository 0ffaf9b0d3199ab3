import type { Page } from '@playwright/test'

/**
 * Presses keys one after the other, such as G and E. Does not wait for the page in between: on a
 * busy machine, it may handle the first key later than the console waits for the second.
 */
export async function pressSequence(page: Page, ...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)))
}
