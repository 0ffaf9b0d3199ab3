import { dialog, VIEWER, type View } from './view.ts'

export const DATABASE_VIEWS: readonly View[] = [
  {
    name: 'databases',
    list: true,
    url: () => '/_console/databases',
    shows: (page) => page.getByRole('link', { name: 'shop', exact: true }),
    changes: [/^Create database$/, /^Drop blog$/],
  },
  {
    name: 'database: panel',
    url: () => '/_console/databases?open=blog',
    shows: (page) =>
      page.getByRole('dialog', { name: 'Database blog' }).getByRole('link', { name: 'articles' }),
    changes: [/^Drop database$/],
  },
  {
    name: 'database: create',
    url: () => '/_console/databases/new',
    steps: (page) => page.getByRole('textbox', { name: 'Name' }).fill('a b'),
    shows: (page) => page.getByText('A space is not allowed in a name'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'database: drop',
    url: () => '/_console/databases?drop=blog',
    shows: (page) => dialog('Drop database blog?')(page).getByText('documents'),
    needs: 'operator',
    refusal: VIEWER,
  },
]
