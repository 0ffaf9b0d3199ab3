import { expect, test } from './support/gatehouse.ts'

test('The console opens, is called Gatehouse, and keeps to its own policy', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page)
  const answer = await page.goto('/_console/')
  expect(answer?.status()).toBe(200)
  expect(answer?.headers()['content-security-policy']).toMatch(/default-src|script-src/)
  await expect(page).toHaveTitle(/\bGatehouse$/)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
})
