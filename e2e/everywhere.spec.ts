import type { Page } from '@playwright/test'
import { expectAccessible, expectAccessibleInBothThemes } from './support/expect-accessible.ts'
import { FRONTS, PLACES, type Place } from './support/places.ts'
import { findUnreachable } from './support/reach-controls.ts'
import { expect, type Town, test } from './support/town.ts'

// What holds for every page and every dialog of the console, each by its URL.

/** A page may take a moment to follow its window. */
const softly = expect.configure({ soft: true })

async function expectWhole(page: Page, town: Town, place: Place): Promise<void> {
  const answer = await page.goto(place.url(town))
  expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'")
  await place.steps?.(page, town)
  await expect(place.shows(page, town)).toBeVisible()
  await expect(page).toHaveTitle(/\S · Gatehouse$/)
  await expect(page.locator('h1')).toHaveCount(1)
  await expectAccessibleInBothThemes(page)

  // 1440 × 900 at 200 %, and what WCAG 1.4.10 asks for.
  await page.setViewportSize({ width: 720, height: 450 })
  await softly.poll(() => findUnreachable(page), { message: 'at 200 %' }).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  await softly.poll(() => findUnreachable(page), { message: 'at 320 px' }).toEqual([])
  if (place.list) await expectAccessible(page)
}

for (const place of PLACES) {
  test(`Everybody can use: ${place.name}`, async ({ page, town }) => {
    await expectWhole(page, town, place)
  })
}

for (const front of FRONTS) {
  test.describe(() => {
    test.use({ role: front.as })

    test(`Everybody can use: ${front.name}`, async ({ page, town }) => {
      await expectWhole(page, town, front)
    })
  })
}
