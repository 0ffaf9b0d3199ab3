import { dialog, VIEWER, type View } from './view.ts'

export const DATABASE_VIEWS: readonly View[] = [
  {
    name: 'databases',
    list: true,
    url: () => '/_console/data',
    shows: (page) => page.getByRole('table').getByRole('link', { name: 'shop', exact: true }),
    changes: [/^Create database$/, /^Create a database$/, /^Import$/, /^Create “/],
  },
  {
    name: 'database',
    url: () => '/_console/data/blog',
    shows: (page) => page.getByRole('table').getByRole('link', { name: 'articles' }),
    changes: [/^Import$/, /^Drop database$/, /^Create document$/],
  },
  {
    name: 'database: create',
    url: () => '/_console/data?dialog=create',
    steps: (page) => page.getByRole('textbox', { name: 'Name' }).fill('a b'),
    shows: (page) => page.getByText('A space is not allowed in a name'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'database: import',
    url: () => '/_console/data/blog?dialog=import',
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
    url: () => '/_console/data/blog?dialog=drop',
    shows: (page) => dialog('Drop database blog?')(page).getByText('documents'),
    needs: 'operator',
    refusal: VIEWER,
  },
]
