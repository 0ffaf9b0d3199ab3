import { makeBlog, replaceOutside } from './support/page/documents-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { expect, test } from './support/server/gatehouse.ts'

const ARTICLES = '/_console/data/blog/articles'
const FEED = '/_db/blog/_feed/articles'

test('A feed is turned on, keeps changes for longer, and is turned off', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, ARTICLES)
  await page.getByRole('link', { name: 'Follow', exact: true }).click()
  await expect(page.getByText('articles has no feed.')).toBeVisible()
  await page.getByRole('button', { name: 'Turn on the feed' }).click()
  const feed = page.getByRole('region', { name: 'Feed', exact: true })
  await expect(feed).toContainText('0 on this node')
  await expectAccessible(page)

  await feed.getByLabel('Keep changes for').selectOption('30 days')
  await feed.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Feed of articles saved',
  )
  const { last } = (await gatehouse.get(FEED)).body as { last: string }
  expect((await gatehouse.get(FEED)).body).toMatchObject({ retain: '30d' })

  // The code follows from the last position. It stays as it is while it can be copied.
  const code = page.getByRole('region', { name: 'Follow it' })
  await expect(code).toContainText(`after=${last}`)
  await expect(code).toContainText(`let after = '${last}'`)
  await code.getByRole('button', { name: 'Copy with a new token: curl' }).click()
  await expect(code).toContainText('the new token Follow blog/articles, which has the role viewer')
  await replaceOutside(gatehouse, 'one', { title: 'Two' })
  await expect(feed).toContainText(/1, \d+ B/)
  await expect(code).toContainText(`after=${last}`)

  await feed.getByRole('button', { name: 'Turn off the feed' }).click()
  const question = page.getByRole('dialog', { name: 'Turn off the feed of articles?' })
  await question.getByRole('button', { name: 'Turn off the feed' }).click()
  await expect(question).toBeHidden()
  await expect(page.getByText('articles has no feed.')).toBeVisible()
  expect((await gatehouse.get(FEED)).status).toBe(404)
})

test('Documents of a collection with a feed change in place as other programs change them', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.put(FEED, {})
  await gatehouse.signIn(page, ARTICLES)
  const table = page.getByRole('table', { name: 'Documents of articles' })
  await expect(page.getByText('Follows changes')).toBeVisible()
  await replaceOutside(gatehouse, 'one', { title: 'Changed outside' })
  await expect(table).toContainText('Changed outside')
  await expect(page.getByText(/\b1 change /)).toBeVisible()
  await gatehouse.post('/_db/blog/articles', [{ id: 'two' }, { id: 'three' }])
  await expect(table.getByRole('link', { name: 'three' })).toBeVisible()
  await expect(page.getByText('2 changes')).toBeVisible()
  await gatehouse.delete('/_db/blog/articles/one')
  await expect(table).not.toContainText('Changed outside')

  await gatehouse.delete(FEED)
  await expect(page.getByText('Follows changes')).toBeHidden()
  await gatehouse.put(FEED, {})
  await page.reload()
  await expect(page.getByText('Follows changes')).toBeVisible()
  await replaceOutside(gatehouse, 'two', { title: 'Again' })
  await expect(table).toContainText('Again')
})
