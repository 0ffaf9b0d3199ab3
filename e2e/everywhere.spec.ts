import type { Locator, Page, Response } from '@playwright/test'
import { expectAccessible, expectAccessibleInBothThemes } from './support/page/expect-accessible.ts'
import { findClippedControls } from './support/page/find-clipped-controls.ts'
import { visit } from './support/page/visit.ts'
import type { SampleData } from './support/sample-data.ts'
import { expect, sampleTest as test } from './support/server/gatehouse.ts'
import { AREAS } from './support/views/areas.ts'
import { PUBLIC_VIEWS } from './support/views/public.ts'
import type { View } from './support/views/view.ts'

// Tests the requirements of every page and dialog of the console, each by its URL.

/** Soft polling, because a page may take a moment to follow a resize. */
const softly = expect.configure({ soft: true })

async function expectViewAccessible(
  page: Page,
  sample: SampleData,
  view: View,
  response: Response | null | undefined,
): Promise<void> {
  if (response)
    expect(response.headers()['content-security-policy']).toContain("default-src 'none'")
  await view.steps?.(page, sample)
  await expect(view.shows(page, sample)).toBeVisible()
  await expect(page).toHaveTitle(/\S · Gatehouse$/)
  await expect(page.locator('h1')).toHaveCount(1)
  await expect(page.getByText('Loading the console')).toHaveCount(0)
  await expectAccessibleInBothThemes(page)

  // 1440 × 900 at 200 %, and the width of WCAG 1.4.10.
  await page.setViewportSize({ width: 720, height: 450 })
  await softly.poll(() => findClippedControls(page), { message: 'at 200 %' }).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  await softly.poll(() => findClippedControls(page), { message: 'at 320 px' }).toEqual([])
  if (view.list) await expectAccessible(page)
}

for (const [area, views] of Object.entries(AREAS)) {
  test(`Every page and dialog is accessible: ${area}`, async ({ page, sample, browserErrors }) => {
    test.slow()
    // Queries and exports that a view rejects.
    browserErrors.allow(/^http 422 GET .*\/articles\?/)
    for (const view of views) {
      await test.step(view.name, async () => {
        const response = await visit(page, view.url(sample))
        await expectViewAccessible(page, sample, view, response)
      })
    }
  })
}

for (const role of ['pending', 'anonymous'] as const) {
  test.describe(() => {
    test.use({ role })

    test(`Every page is accessible: ${role}`, async ({ page, sample, browserErrors }) => {
      for (const view of PUBLIC_VIEWS.filter(({ as }) => as === role)) {
        await test.step(view.name, async () => {
          if (view.status !== undefined)
            browserErrors.allow(new RegExp(`^http ${view.status} GET `))
          // Not visit(), because these are documents of their own.
          await page.setViewportSize({ width: 1440, height: 900 })
          const response = await page.goto(view.url(sample))
          await expectViewAccessible(page, sample, view, response)
        })
      }
    })
  })
}

test('The first steps are accessible in each state, and can be dismissed', async ({ page }) => {
  let databases = [{ name: '_system' }]
  const isList = (url: URL, what: string) => url.pathname.endsWith(`/_api/${what}`)
  await page.route(
    (url) => isList(url, 'database'),
    (route) => route.fulfill({ json: databases }),
  )
  await page.route(
    (url) => isList(url, 'token'),
    (route) => route.fulfill({ json: [] }),
  )
  const card = page.getByRole('region', { name: 'Serve your first data' })
  for (const button of ['Create database', 'Create token']) {
    await visit(page, '/_console/overview')
    await page.reload()
    await expect(card.getByRole('button', { name: button })).toBeVisible()
    await expectAccessibleInBothThemes(page)
    await page.setViewportSize({ width: 320, height: 640 })
    await softly.poll(() => findClippedControls(page)).toEqual([])
    databases = [...databases, { name: 'blog' }]
  }
  await card.getByRole('button', { name: 'Dismiss' }).click()
  await expect(card).toBeHidden()
  await page.reload()
  await expect(page.getByRole('region', { name: 'Needs attention' })).toBeVisible()
  await expect(card).toBeHidden()
})

test('A tooltip covers no control, can be hovered, and Esc closes only the tooltip', async ({
  page,
}) => {
  await page.goto('/_console/access/tokens')
  const revokes = page.getByRole('row').getByRole('button', { name: /^Revoke / })
  await expect(revokes.first()).toBeVisible()
  const tooltip = page.getByRole('tooltip')
  for (const button of (await revokes.all()).slice(0, 3)) {
    await button.hover()
    await expect(tooltip).toBeVisible()
    await expect(button).toHaveAccessibleDescription('Revoke')
    const covered = () =>
      tooltip.evaluate((own) => {
        const box = own.getBoundingClientRect()
        return [...document.querySelectorAll('a[href], button, input')]
          .filter((each) => {
            const { left, right, top, bottom } = each.getBoundingClientRect()
            return left < box.right && box.left < right && top < box.bottom && box.top < bottom
          })
          .map((each) => each.ariaLabel ?? each.textContent)
      })
    await expect.poll(covered).toEqual([])

    // The tooltip stays open while the pointer moves to it and over it.
    const from = await button.boundingBox()
    const to = await tooltip.boundingBox()
    if (from === null || to === null) throw new Error('nothing to point at')
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2)
    await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 })
    await expect(tooltip).toBeVisible()
    await page.mouse.move(to.x + to.width / 2 + 2, to.y + to.height / 2, { steps: 2 })
    await expect(tooltip).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(tooltip).toBeHidden()
  }

  // The tooltip closes when the pointer leaves, and opens on focus.
  await revokes.first().hover()
  await expect(tooltip).toBeVisible()
  await page.mouse.move(700, 10, { steps: 8 })
  await expect(tooltip).toBeHidden()
  await revokes.first().focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await expect(tooltip).toBeVisible()
  await page.getByRole('link', { name: 'Providers' }).focus()
  await expect(tooltip).toBeHidden()

  // A panel below the tooltip stays open.
  await page.goto('/_console/data/blog/articles?open=one')
  const panel = page.getByRole('dialog', { name: 'Document one' })
  await expect(panel).toBeVisible()
  await page.getByRole('button', { name: 'Refresh documents' }).focus()
  await page.keyboard.press('Tab')
  await expect(tooltip).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(tooltip).toBeHidden()
  await expect(panel).toBeVisible()
})

/** Returns the colors of an element, with the system color Highlight by name. */
const colors = (goal: Locator) =>
  goal.evaluate((each) => {
    const probe = document.createElement('i')
    probe.style.color = 'Highlight'
    document.body.append(probe)
    const highlight = getComputedStyle(probe).color
    probe.remove()
    const { backgroundColor, outlineColor, outlineStyle, outlineWidth } = getComputedStyle(each)
    const outline = `${outlineWidth} ${outlineStyle} ${outlineColor}`
    const name = (text: string) => text.replaceAll(highlight, 'Highlight')
    return { background: name(backgroundColor), outline: name(outline) }
  })

test('Forced colors keep selection, current page and focus visible', async ({ page, sample }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto(`/_console/endpoints?open=${encodeURIComponent(sample.own)}`)
  const row = (address: string) =>
    page.locator(`[data-row]:has-text(${JSON.stringify(address.slice('tcp://'.length))})`)
  // The panel takes the focus when it is loaded.
  await expect(page.locator('[data-panel] h2')).toBeFocused()
  await page.getByRole('checkbox', { name: `Select ${sample.mapped}` }).check()
  const marked = { outline: '2px solid Highlight' }
  expect(await colors(row(sample.mapped))).toMatchObject(marked)
  expect(await colors(row(sample.own))).toMatchObject(marked)
  expect(await colors(row(sample.failed))).not.toMatchObject(marked)

  const filled = { background: 'Highlight' }
  const main = page.getByRole('navigation', { name: 'Main' })
  expect(await colors(main.getByRole('link', { name: 'Endpoints' }))).toMatchObject(filled)
  expect(await colors(main.getByRole('link', { name: 'Activity' }))).not.toMatchObject(filled)
  await page.getByRole('button', { name: 'account menu' }).click()
  const theme = (name: string) => page.getByRole('menuitemradio', { name })
  expect(await colors(theme('System'))).toMatchObject(filled)
  expect(await colors(theme('Dark'))).not.toMatchObject(filled)
  await page.keyboard.press('Escape')
  expect(await colors(page.locator('main button[aria-pressed="true"]'))).toMatchObject(filled)

  await row(sample.mapped).focus()
  await page.keyboard.press('ArrowUp')
  const focused = page.locator('[data-row]:focus-visible')
  await expect(focused).toHaveCount(1)
  expect((await colors(focused)).outline).toMatch(/^4px double/)
  // Each state has its own icon.
  const shapes = await page
    .locator('[data-row] [data-state] svg')
    .evaluateAll((all) => new Set(all.map((each) => each.innerHTML)).size)
  expect(shapes).toBeGreaterThan(1)
  await expectAccessible(page)

  await page.goto('/_console/access/people')
  const tabs = page.locator('main nav')
  expect(await colors(tabs.getByRole('link', { name: 'People' }))).toMatchObject(filled)
  expect(await colors(tabs.getByRole('link', { name: 'Tokens' }))).not.toMatchObject(filled)
  await page.keyboard.press('Control+K')
  const search = page.getByRole('dialog', { name: 'Search' })
  expect(await colors(search.locator('[aria-selected="true"]'))).toMatchObject(marked)
})

/** The number of rows that a table prints (web/ui/table/printed-rows.tsx), and the total. */
const [PRINTED, ALL] = [1_000, 1_200]

test('A page prints in light colors without navigation and states which rows are missing', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.route('**/_api/endpoint', (route) =>
    route.fulfill({
      json: Array.from({ length: ALL }, (_, at) => ({
        endpoint: `tcp://a-rather-long-host-name.example.com:${20_000 + at}`,
        databases: at === 0 ? ['one', 'two', 'three', 'four', 'five'] : ['one'],
      })),
    }),
  )
  await page.goto('/_console/endpoints')
  const rows = page.locator('tr[data-row]')
  await expect(rows.first()).toBeVisible()
  expect(await rows.count()).toBeLessThan(100)
  const note = page.getByText('The first 1,000 of 1,200 endpoints are printed.')
  await expect(note).toBeHidden()
  // By selector: a search by role computes the role of each of 30,000 elements.
  const navigation = page.locator('nav[aria-label="Main"]')
  const filter = page.locator('input[type="search"]')
  await expect(navigation).toBeVisible()
  await expect(filter).toBeVisible()

  await page.setViewportSize({ width: 794, height: 1123 })
  await page.emulateMedia({ media: 'print' })
  await page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'))
  })
  await expect(rows).toHaveCount(PRINTED)
  await expect(note).toBeVisible()
  await expect(rows.first().getByText('five')).toBeVisible()
  await expect(navigation).toBeHidden()
  await expect(filter).toBeHidden()
  await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(21, 24, 30)')
  const isTruncated = await rows.first().evaluate((row) => row.scrollWidth > row.clientWidth)
  expect(isTruncated).toBe(false)

  await page.evaluate(() => {
    window.dispatchEvent(new Event('afterprint'))
  })
  await page.emulateMedia({ media: null })
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect(note).toBeHidden()
  await expect.poll(() => rows.count()).toBeLessThan(100)
})
