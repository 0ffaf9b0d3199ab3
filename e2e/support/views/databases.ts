import { dialog, VIEWER, type View } from './view.ts'

export const DATABASE_VIEWS: readonly View[] = [
  {
    name: 'databases',
    list: true,
    url: () => '/_console/databases',
    shows: (page) => page.getByRole('link', { name: 'shop', exact: true }),
    changes: [/^Create database$/, /^Import$/, /^Drop blog$/, /^Create “/],
  },
  {
    name: 'database: panel',
    url: () => '/_console/databases?open=blog',
    shows: (page) =>
      page.getByRole('dialog', { name: 'Database blog' }).getByRole('link', { name: 'articles' }),
    changes: [/^Import$/, /^Drop database$/],
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
    name: 'database: import',
    url: () => '/_console/databases/import?open=blog',
    steps: (page) =>
      page.locator('input[type="file"]').setInputFiles({
        name: 'blog.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(
          [
            '{"gatehouse":1,"database":"blog"}',
            '{"collection":"articles","schema":null,"indexes":[]}',
            '{"end":{"collections":1,"documents":0}}',
          ].join('\n'),
        ),
      }),
    shows: (page) => dialog('Import database')(page).getByRole('cell', { name: 'Exists' }),
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
