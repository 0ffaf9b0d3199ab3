import { dialog, save, VIEWER, type View } from './view.ts'

const ARTICLES = '/_console/documents/blog/articles'

export const DOCUMENT_VIEWS: readonly View[] = [
  {
    name: 'documents: databases',
    url: () => '/_console/documents',
    shows: (page) => page.getByRole('link', { name: 'blog', exact: true }),
  },
  {
    name: 'documents: collections',
    url: () => '/_console/documents/blog',
    shows: (page) => page.getByRole('link', { name: 'articles' }),
    changes: [/^Create document$/],
  },
  {
    name: 'documents',
    list: true,
    url: () => ARTICLES,
    shows: (page) => page.getByRole('link', { name: 'two' }),
    changes: [/^Create document$/, /^Import$/, /^More actions$/, /^Select one$/],
  },
  {
    name: 'documents: nothing matches',
    url: () => `${ARTICLES}?filter=title%3DNone`,
    shows: (page) => page.getByText('No document of articles matches'),
  },
  {
    name: 'documents: filter',
    url: () => `${ARTICLES}?filter=title:ne%3DNone&sort=-title&count=1`,
    steps: (page) => page.getByRole('button', { name: 'Add filter' }).click(),
    shows: (page) => page.getByRole('form', { name: 'New filter' }),
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
    name: 'documents: delete all',
    url: () => `${ARTICLES}?empty=1`,
    shows: dialog('Delete all documents of articles?'),
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
    shows: (page) => page.getByRole('textbox', { name: 'Schema as JSON' }),
    changes: [/^Save schema$/, /^Remove schema$/],
  },
]
