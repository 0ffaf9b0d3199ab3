import { expect, test } from '../server/gatehouse.ts'

test('page.route is in effect for the next key press, also while the page is busy', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/activity')
  await page.evaluate(() => {
    const { dataset, style } = document.documentElement
    addEventListener('keydown', async ({ key }) => {
      const { status } = await fetch('/_api/health')
      dataset.response = `${key} ${status}`
    })
    const work = () => {
      const start = performance.now()
      const duration = Math.random() * 60
      while (performance.now() - start < duration);
      style.opacity = String(1 - Math.random() / 10)
      setTimeout(work, Math.random() * 5)
    }
    work()
  })
  for (let count = 0; count < 20; count++) {
    const key = String(count % 10)
    await page.route('**/_api/health', (route) => route.fulfill({ status: 299 }))
    await page.keyboard.press(key)
    await expect(page.locator('html')).toHaveAttribute('data-response', `${key} 299`)
    await page.unroute('**/_api/health')
  }
})
