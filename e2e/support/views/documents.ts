import type { Page } from '@playwright/test'
import { dialog, save, VIEWER, type View } from './view.ts'

const ARTICLES = '/_console/data/blog/articles'

const TOO_EXPENSIVE = {
  id: 'query_too_expensive',
  message: 'The query reads too many documents. An index on author would serve it.',
  fields: ['author'],
}

/**
 * Responds to the next request for a URL in place of the server. Requests after it, such as those of
 * a poll, get no response, so that the page keeps its state.
 */
async function respondOnce(page: Page, url: RegExp, json: unknown, status = 200): Promise<void> {
  let isFirst = true
  await page.route(
    url,
    async (route) => {
      if (isFirst) await route.fulfill({ status, json })
      isFirst = false
    },
    { times: 2 },
  )
}

const index = { fields: ['author'], unique: false, progress: null, duplicates: [], excluded: 0 }
const INDEXES = [
  { ...index, name: 'by-author', state: 'building', progress: 0.42 },
  { ...index, name: 'by-author-unique', unique: true, state: 'failed', duplicates: ['one', 'two'] },
]

const [kind, state, created, updated] = ['patch', 'running', '', '']
const counts = { done: 3_000, total: 12_000, found: 3_000, failure: null }
const JOB = { id: 'one', collection: 'articles', kind, state, ...counts, created, updated }

const errors = ['title', 'author/name'].map((pointer, at) => ({
  ...{ line: at + 2, pointer: `/${pointer}`, message: 'must be string' },
}))
const IMPORTED = { created: 3, replaced: 0, skipped: 1, failed: errors.length, errors }

export const DOCUMENT_VIEWS: readonly View[] = [
  {
    name: 'documents',
    list: true,
    url: () => ARTICLES,
    shows: (page) => page.getByRole('link', { name: 'two' }),
    changes: [/^Create document$/, /^Import$/, /^Select one$/],
  },
  {
    name: 'documents: nothing matches',
    url: () => `${ARTICLES}?filter=title%3DNone`,
    shows: (page) => page.getByText('No documents in articles match the filter'),
  },
  {
    name: 'documents: filter',
    url: () => `${ARTICLES}?filter=title:ne%3DNone&sort=-title&count=1`,
    steps: (page) => page.getByRole('button', { name: 'Add filter' }).click(),
    shows: (page) => page.getByRole('form', { name: 'New filter' }),
  },
  {
    name: 'documents: follow',
    url: () => '/_console/data/shop/orders/follow',
    shows: (page) => page.getByText('Last position', { exact: true }),
    changes: [/^Save$/, /^Turn off the feed$/],
  },
  {
    name: 'documents: no feed',
    url: () => `${ARTICLES}/follow`,
    shows: (page) => page.getByText('articles has no feed.'),
    changes: [/^Turn on the feed$/],
  },
  {
    name: 'document: open',
    url: () => `${ARTICLES}?open=one`,
    shows: (page) => dialog('Document one')(page).getByText('"title"'),
    changes: [/^Edit document$/, /^Delete document$/],
  },
  {
    name: 'document: create',
    url: () => `${ARTICLES}?create=1`,
    async steps(page) {
      await page.getByRole('textbox', { name: 'Document as JSON' }).fill('{')
      await save(page)
    },
    shows: (page) => page.getByText('Invalid JSON'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'document: edit',
    url: () => `${ARTICLES}?edit=one`,
    shows: (page) => page.getByRole('textbox', { name: 'Document as JSON' }),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'document: delete',
    url: () => `${ARTICLES}?remove=one`,
    shows: (page) => dialog('Delete document one?')(page).getByText('"title"'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'documents: import',
    url: () => `${ARTICLES}?import=1`,
    steps: (page) => page.getByLabel('Or paste documents').fill('id,title\nthree,3'),
    shows: (page) => page.getByRole('cell', { name: 'three' }),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'documents: import outcome',
    url: () => `${ARTICLES}?import=1`,
    async steps(page) {
      await respondOnce(page, /on-conflict=fail$/, IMPORTED)
      await page.getByLabel('Or paste documents').fill('id,title\nthree,3')
      await save(page)
    },
    shows: (page) => page.getByRole('list', { name: 'Errors' }),
    needs: 'operator',
  },
  {
    name: 'documents: selection, failed export and menu of columns',
    url: () => `${ARTICLES}?selected=one%2Ctwo`,
    async steps(page) {
      await respondOnce(page, /export-as=csv/, TOO_EXPENSIVE, 422)
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('menuitem', { name: 'CSV', exact: true }).click()
      await page.getByRole('alert').filter({ hasText: 'was not exported' }).waitFor()
      await page.getByRole('button', { name: 'Columns' }).click()
    },
    shows: (page) => page.getByRole('menuitemcheckbox', { name: 'author' }),
  },
  {
    name: 'documents: edit selected',
    url: () => `${ARTICLES}?selected=one%2Ctwo&bulk=edit`,
    steps: (page) =>
      page.getByRole('textbox', { name: 'Changes as JSON' }).fill('{ "author": "grace" }'),
    shows: (page) => page.getByRole('region', { name: 'one after the change' }),
    needs: 'operator',
  },
  {
    name: 'documents: delete selected',
    url: () => `${ARTICLES}?selected=one%2Ctwo&bulk=delete`,
    shows: (page) => dialog('Delete 2 documents?')(page).getByText('"title"').first(),
    needs: 'operator',
  },
  {
    name: 'documents: job',
    url: () => ARTICLES,
    async steps(page) {
      // Polled until the end of the test, because the job is watched without its dialog too.
      await page.route(/_job\/one$/, (route) => route.fulfill({ status: 206, json: JOB }))
      await page.evaluate(() => history.pushState(null, '', '?job=one'))
    },
    shows: (page) => page.getByText('3,000 of 12,000 documents'),
    changes: [/^Cancel change$/],
  },
  {
    name: 'documents: query failure',
    url: () => ARTICLES,
    async steps(page) {
      await respondOnce(page, /\/articles\?.*sort=author/, TOO_EXPENSIVE, 422)
      await page.evaluate(() => history.pushState(null, '', '?sort=author'))
    },
    // Not the alert of the failed export, which stays open and begins with another text.
    shows: (page) =>
      page.getByRole('alert').filter({ hasText: /^The query .*Create an index on author\./ }),
  },
  {
    name: 'documents: delete all',
    url: () => `${ARTICLES}?empty=1`,
    shows: dialog('Delete all documents in articles?'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'indexes',
    list: true,
    url: () => `${ARTICLES}/indexes`,
    shows: (page) => page.getByText('by-title'),
    changes: [/^Create index$/, /^Delete by-title$/],
  },
  {
    name: 'indexes: building and failed',
    list: true,
    url: () => ARTICLES,
    async steps(page) {
      await respondOnce(page, /\/_index\/articles$/, INDEXES)
      await page.getByRole('link', { name: 'Indexes' }).click()
    },
    shows: (page) => page.getByRole('list', { name: 'Documents with the same values' }),
  },
  {
    name: 'index: delete',
    url: () => `${ARTICLES}/indexes?remove=by-title`,
    shows: dialog('Delete index by-title?'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'index: create',
    url: () => `${ARTICLES}/indexes?create=1`,
    async steps(page) {
      await page.getByRole('dialog').waitFor()
      await save(page)
    },
    shows: (page) => page.getByText('Choose or enter a field.'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'schema',
    url: () => `${ARTICLES}/schema`,
    shows: (page) => page.getByLabel('Schema as JSON'),
    changes: [/^Save schema$/, /^Remove schema$/],
  },
]
