import type { Page } from '@playwright/test'
import { dialog, heading, VIEWER, type View } from './view.ts'

const ENDPOINTS = '/_console/endpoints'

/** The map of endpoints, their rejected requests, and their import. */
export const ENDPOINT_MAP_VIEWS: readonly View[] = [
  {
    name: 'map',
    list: true,
    url: () => `${ENDPOINTS}/map`,
    shows: heading('Endpoints'),
    steps: (page) => page.getByRole('table', { name: 'By database' }).waitFor(),
  },
  {
    name: 'rejected requests',
    list: true,
    url: () => `${ENDPOINTS}/requests`,
    steps: async (page, { mapped }) => {
      await fetch(`${mapped.replace('tcp:', 'http:')}/articles`)
      await page.getByRole('button', { name: 'GET /articles' }).first().click()
    },
    shows: (page) => page.getByText('The request had no valid token or session.'),
    changes: [/^Block /, /^Allow only /],
  },
  {
    name: 'import',
    url: () => `${ENDPOINTS}/import`,
    shows: dialog('Import endpoints'),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'import: errors',
    url: () => `${ENDPOINTS}/import`,
    steps: (page) => chooseFile(page, [{ endpoint: 'tcp://0.0.0.0:1' }, 7]),
    shows: (page) => page.getByText(/^Entry 2, line/),
    needs: 'operator',
    refusal: VIEWER,
  },
  {
    name: 'import: preview',
    list: true,
    url: () => `${ENDPOINTS}/import`,
    steps: (page, { own, mapped }) =>
      chooseFile(page, [
        { endpoint: own, databases: [] },
        { endpoint: mapped, databases: ['shop', 'none'] },
        { endpoint: 'tcp://0.0.0.0:1', databases: ['a', 'b', 'c', 'd', 'e'] },
      ]),
    shows: (page) => page.getByText('sent unencrypted'),
    needs: 'operator',
    refusal: VIEWER,
  },
]

async function chooseFile(page: Page, records: readonly unknown[]): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({
    name: 'endpoints.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(records, null, 1)),
  })
}
