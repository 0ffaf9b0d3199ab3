import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** Fails unless axe finds nothing against WCAG 2.2 AA, nor against its own best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  // What fades in has its contrast only when it stands.
  await page.waitForFunction(() =>
    document.getAnimations().every((each) => each.playState !== 'running'),
  )
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze()
  const told = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }))
  expect(told).toEqual([])
}
