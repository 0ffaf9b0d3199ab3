import type { Page } from '@playwright/test'

/** The Endpoints page, below the base URL. */
export const consolePath = '/_console/endpoints'

/** The row of an endpoint, by its address. */
export const rowOf = (page: Page, address: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader').filter({ hasText: address }) })

/** Opens the menu of a row. */
export const openMenu = (page: Page, address: string) =>
  page.getByRole('button', { name: `Actions for ${address}` }).click()

/** Opens the menu of a row and chooses in it. */
export async function chooseInMenu(page: Page, address: string, item: string): Promise<void> {
  await openMenu(page, address)
  await page.getByRole('menuitem', { name: item }).click()
}

/** Types names into the mapping form, one after the other. */
export async function addDatabases(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) {
    const field = page.getByRole('combobox', { name: 'Add a database' })
    await field.fill(name)
    await field.press('Enter')
  }
}
