import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, type Page } from '@playwright/test'
import type axe from 'axe-core'

/** The minified source, which browsers parse in two thirds of the time. */
const AXE = readFileSync(
  fileURLToPath(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url)),
  'utf8',
)

const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules for colors, which are all that a second theme of a fully checked page can violate. */
const COLORS = ['color-contrast', 'link-in-text-block']

/**
 * Fails if axe finds a violation of WCAG 2.2 AA or of its best practices in the topmost modal dialog,
 * or else in the page. With `colors`, runs only the rules for colors.
 */
export async function expectAccessible(page: Page, what?: 'colors'): Promise<void> {
  // A page without its style sheets has other colors.
  await page.waitForLoadState()
  // Contrast is measured correctly only after animations have ended.
  await page.waitForFunction(() =>
    document.getAnimations().every((each) => each.playState !== 'running'),
  )
  // Evaluated once in each document: parsing it takes longer than most checks.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const runOnly: axe.RunOnly =
    what === 'colors' ? { type: 'rule', values: COLORS } : { type: 'tag', values: EVERYTHING }
  const summary = await page.evaluate(async (only) => {
    const { axe: engine } = window as unknown as { axe: typeof axe }
    // axe describes every element of the other result types as well, unless they are excluded.
    const options = { runOnly: only, resultTypes: ['violations' as const] }
    // The page behind a modal dialog is inert, and is checked as a page of its own.
    const modal = [...document.querySelectorAll('[aria-modal="true"]')].at(-1)
    const { violations } = await engine.run(modal ?? document, options)
    return violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
    }))
  }, runOnly)
  expect(summary).toEqual([])
}

/** Runs {@link expectAccessible} in the light and the dark theme. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page, 'colors')
  await page.emulateMedia({ colorScheme: 'light' })
}
