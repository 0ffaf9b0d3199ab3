import { expect, type Page } from '@playwright/test'

/** Signs in through the real local provider, and is then at `path`, a page of the console. */
export async function signInWithKey(page: Page, key: string, path: string): Promise<void> {
  await page.goto(`/_console/sign-in?${new URLSearchParams({ returnTo: path })}`)
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await giveKey(page, key)
  await page.waitForURL((url) => url.pathname + url.search === path)
}

/** Answers the page of the local provider. */
export async function giveKey(page: Page, key: string): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Sign in with the operator key' })).toBeVisible()
  await page.getByLabel('Operator key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
