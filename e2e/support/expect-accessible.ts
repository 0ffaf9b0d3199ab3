import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules that judge colours: all that another theme can break in a page that was judged whole. */
const COLOURS = ['color-contrast', 'link-in-text-block']

/**
 * Fails unless axe finds nothing against WCAG 2.2 AA, nor against its own best practices; `colours`:
 * in the rules that judge those alone.
 */
export async function expectAccessible(page: Page, what?: 'colours'): Promise<void> {
  // What fades in has its contrast only when it stands.
  await page.waitForFunction(() =>
    document.getAnimations().every((each) => each.playState !== 'running'),
  )
  // Our pages have no frames: looking for some takes a page more each time.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (what === 'colours'
    ? axe.withRules(COLOURS)
    : axe.withTags(EVERYTHING)
  ).analyze()
  const told = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }))
  expect(told).toEqual([])
}

/** {@link expectAccessible} in the light theme and in the dark one. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page, 'colours')
  await page.emulateMedia({ colorScheme: 'light' })
}
