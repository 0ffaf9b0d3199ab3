import type { Page } from '@playwright/test'
import type { Gatehouse } from '../server/open-gatehouse.ts'

export const ARTICLES = '/_console/data/blog/articles'

/** Returns the editor of a document. */
export const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Document as JSON' })

export const dialogOf = (page: Page, title: string) =>
  page.getByRole('dialog', { name: title, exact: true })

/** Creates the database blog with these documents in its collection articles. */
export async function makeBlog(
  gatehouse: Gatehouse,
  documents: readonly object[] = [],
): Promise<void> {
  await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
  if (documents.length > 0) await gatehouse.post('/_db/blog/articles', documents)
}

/** Replaces a document with the API, as another program would. */
export const replaceOutside = (gatehouse: Gatehouse, id: string, fields: object) =>
  gatehouse.put(`/_db/blog/articles/${id}`, { id, ...fields })
