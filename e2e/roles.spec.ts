import type { Page } from '@playwright/test'
import { atLeast } from '../server/contract/access/principal.ts'
import { watchBrowserErrors } from './support/page/browser-errors.ts'
import {
  chooseEveryDatabase,
  consolePath,
  openMenu,
  openTab,
  rowOf,
} from './support/page/endpoints-page.ts'
import { pressSequence } from './support/page/press-sequence.ts'
import { visit } from './support/page/visit.ts'
import { browserOf } from './support/people.ts'
import type { SampleData } from './support/sample-data.ts'
import { expect, sampleTest as test } from './support/server/gatehouse.ts'
import { ACCESS_VIEWS } from './support/views/access.ts'
import { AREAS } from './support/views/areas.ts'
import type { View } from './support/views/view.ts'

// Tests what each role sees and may do, with real sessions. A request that the server rejects fails
// the journey.

const offered = (page: Page, name: RegExp) =>
  page
    .getByRole('button', { name })
    .or(page.getByRole('link', { name }))
    .or(page.getByRole('checkbox', { name }))

async function expectForRole(
  page: Page,
  sample: SampleData,
  view: View,
  role: 'viewer' | 'operator',
) {
  await visit(page, view.url(sample))
  if (!atLeast(role, view.needs ?? 'viewer')) {
    await expect(page.getByText(view.refusal ?? '').last()).toBeVisible()
    await expect(page.getByRole('button', { name: /^(Save|Make|Create|Upload) / })).toHaveCount(0)
    return
  }
  await view.steps?.(page, sample)
  await expect(view.shows(page, sample)).toBeVisible()
  for (const name of view.changes ?? []) {
    expect([name, await offered(page, name).count()]).toEqual([name, 0])
  }
  await expect(page.getByText(/^You are a viewer/)).toHaveCount(1)
}

/** What a role's pages offer besides their own controls. */
const expected = {
  viewer: {
    menu: ['Copy address'],
    roles: ['Viewer'],
    finds: [] as string[],
  },
  operator: {
    menu: ['Copy address', 'Edit mapping', 'Edit policy', 'Remove endpoint'],
    roles: ['Viewer', 'Editor', 'Operator'],
    finds: ['Add endpoint', 'Create database'] as string[],
  },
} as const

for (const role of ['viewer', 'operator'] as const) {
  test.describe(`A person who is ${role}`, () => {
    test.use({ role })

    test('sees the actions of the role on each page and one notice about the others', async ({
      page,
      sample,
    }) => {
      test.slow()
      for (const view of Object.values(AREAS).flat()) {
        const isRefused = !atLeast(role, view.needs ?? 'viewer')
        const isExplained = isRefused ? view.refusal !== undefined : view.changes !== undefined
        // An operator uses the other pages in other journeys.
        if (isExplained && (role === 'viewer' || isRefused)) {
          await test.step(view.name, () => expectForRole(page, sample, view, role))
        }
      }
    })

    test('has no command, menu item or shortcut beyond the role', async ({ page, sample }) => {
      await page.goto(consolePath)
      const { menu, roles, finds } = expected[role]
      await openMenu(page, sample.mapped)
      await expect(page.getByRole('menuitem')).toHaveText(menu)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link')).toHaveText([
        'Overview',
        'Endpoints',
        ...(role === 'operator' ? ['Certificates'] : []),
        'Data',
        ...(role === 'operator' ? ['Webhooks'] : []),
        'Activity',
      ])

      await rowOf(page, sample.mapped).focus()
      for (const [key, name] of [
        ['n', 'Add endpoint'],
        ['e', `Mapping of ${sample.mapped}`],
        ['Delete', `Remove ${sample.mapped}?`],
      ] as const) {
        await page.keyboard.press(key)
        if (role === 'viewer') {
          await expect(page).toHaveURL(/\/endpoints$/)
          continue
        }
        await expect(page.getByRole('dialog', { name })).toBeVisible()
        await page.keyboard.press('Escape')
        await expect(page.getByRole('dialog')).toHaveCount(0)
        await rowOf(page, sample.mapped).focus()
      }
      await pressSequence(page, 'g', 'a')
      await expect(page).toHaveURL(/\/endpoints$/)

      await page.keyboard.press('?')
      const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await expect(keys.getByText('Search')).toBeVisible()
      await expect(keys.getByText('Go to Access')).toHaveCount(0)
      await expect(keys.getByText('Add an endpoint')).toHaveCount(role === 'operator' ? 1 : 0)
      await page.keyboard.press('Escape')

      await page.keyboard.press('Control+k')
      const search = page.getByRole('dialog', { name: 'Search' })
      const requested: readonly (readonly [string, string])[] = [
        ['endpoint', 'Add endpoint'],
        ['database', 'Create database'],
        ['people', 'People'],
      ]
      for (const [question, found] of requested) {
        await search.getByRole('combobox').fill(question)
        await expect(search.getByRole('status')).toContainText(/result|matches/)
        await expect(search.getByRole('option', { name: found })).toHaveCount(
          finds.includes(found) ? 1 : 0,
        )
      }

      await page.goto('/_console/me/new-token')
      const form = page.getByRole('dialog', { name: 'Create token' })
      const choices = form.getByRole('radio', { name: /^(Viewer|Editor|Operator|Admin)/ })
      await expect(choices).toHaveCount(roles.length)
      for (const name of roles) await expect(form.getByRole('radio', { name })).toBeVisible()
    })
  })
}

test.describe('A person without a role', () => {
  test.use({ role: 'pending' })

  test('sees only the waiting page at every URL', async ({ page }) => {
    for (const path of [consolePath, '/_console/access/people', '/_console/me', '/_console/no']) {
      await page.goto(path)
      await expect(page.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
      await expect(page.getByRole('navigation')).toHaveCount(0)
      await expect(page.getByRole('button')).toHaveText(['Sign out'])
    }
  })
})

test('An admin opens the dialogs of Access from a bookmark', async ({ page, sample }) => {
  // Loads each page, so that its dialog opens before the records are loaded.
  for (const view of ACCESS_VIEWS.filter(({ url }) => url(sample).includes('?'))) {
    await test.step(view.name, async () => {
      await page.goto(view.url(sample))
      await view.steps?.(page, sample)
      await expect(view.shows(page, sample)).toBeVisible()
    })
  }
})

test('A viewer sees the changes of an operator in another console', async ({ browser, sample }) => {
  const { gatehouse, sessions } = sample
  const contexts = await Promise.all([
    browserOf(browser, gatehouse, sessions.operator),
    browserOf(browser, gatehouse, sessions.viewer),
  ])
  const browserErrors = await Promise.all(contexts.map(watchBrowserErrors))
  const [here, there] = (await Promise.all(contexts.map((each) => each.newPage()))) as [Page, Page]
  for (const page of [here, there]) {
    await page.goto(consolePath)
    await expect(page.getByText('Live', { exact: true })).toBeVisible()
  }
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await here.getByRole('button', { name: 'Add endpoint' }).click()
  await here.getByLabel('Port').fill(`${port}`)
  await chooseEveryDatabase(here)
  await here.keyboard.press('Control+Enter')
  await expect(rowOf(here, address)).toBeFocused()
  await expect(rowOf(there, address)).toContainText('Listening')
  await expect(rowOf(there, address)).toContainText('All databases')

  await rowOf(there, address).focus()
  await there.keyboard.press('Enter')
  const panel = there.getByRole('dialog', { name: address })
  await expect(panel.getByRole('region', { name: 'Nodes' })).toContainText('Listening')
  await expect(panel.getByRole('tab', { name: 'Policy' })).toBeHidden()
  const databases = await openTab(there, address, 'Databases')
  await here.keyboard.press('e')
  await here.getByLabel('Only these').check()
  await here.getByRole('combobox', { name: 'Add a database' }).fill('shop')
  await here.keyboard.press('Enter')
  await here.keyboard.press('Control+Enter')
  await expect(here.getByRole('dialog')).toHaveCount(0)
  await expect(rowOf(there, address)).toContainText('shop')
  await expect(databases).toContainText('shop')

  await rowOf(here, address).focus()
  await here.keyboard.press('Delete')
  await here.getByRole('button', { name: 'Remove endpoint' }).click()
  await expect(panel.getByRole('alert').filter({ hasText: 'was removed' })).toBeVisible()
  for (const each of browserErrors) {
    each.allow(/^http 404 GET .*\/traffic\?/)
    expect(each.list()).toEqual([])
  }
  await Promise.all(contexts.map((each) => each.close()))
})
