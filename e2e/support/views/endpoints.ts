import { addDatabases } from '../page/endpoints-page.ts'
import { dialog, save, type View } from './view.ts'

const ENDPOINTS = '/_console/endpoints'
const OPERATORS_ONLY = 'Only operators and admins can change endpoints'

const withAddress = (key: string, address: string) =>
  `${ENDPOINTS}?${new URLSearchParams({ [key]: address })}`

const bulkDialog = (button: string, title: RegExp): View => ({
  name: `bulkDialog: ${button}`,
  url: () => ENDPOINTS,
  async steps(page, { mapped, failed }) {
    for (const address of [mapped, failed]) {
      await page.getByRole('checkbox', { name: `Select ${address}` }).check()
    }
    const bar = page.getByRole('region', { name: 'Selected endpoints' })
    await bar.getByRole('button', { name: button }).click()
  },
  shows: (page) => page.getByRole('dialog', { name: title }),
  needs: 'operator',
})

/** The table of endpoints, its panel and its dialogs. */
export const ENDPOINT_VIEWS: readonly View[] = [
  {
    name: 'endpoints',
    list: true,
    url: () => ENDPOINTS,
    shows: (page) => page.getByText('is used by another program'),
    changes: [/^Add endpoint$/, /^Import$/, /^Select /, /^Create “/],
  },
  {
    name: 'endpoints: nothing matches',
    url: () => `${ENDPOINTS}?q=nothing`,
    shows: (page) => page.getByText('No endpoint matches “nothing”.'),
  },
  {
    name: 'endpoints: row menu',
    url: () => ENDPOINTS,
    steps: (page, { mapped }) =>
      page.getByRole('button', { name: `Actions for ${mapped}` }).click(),
    shows: (page) => page.getByRole('menuitem', { name: 'Copy address' }),
  },
  {
    name: 'endpoint: panel',
    list: true,
    url: ({ mapped }) => withAddress('open', mapped),
    shows: (page) => page.getByRole('region', { name: 'Changes' }).getByText('Added'),
    changes: [
      /^Edit mapping$/,
      /^Turn off$/,
      /^Edit policy$/,
      /^Duplicate$/,
      /^Remove endpoint$/,
      /^Create “/,
      /^Copy the command: Insert /,
      /new token: Insert /,
    ],
  },
  {
    name: 'endpoint: live requests',
    list: true,
    url: ({ mapped }) => withAddress('open', mapped),
    steps: async (page, { mapped }) => {
      const requests = page.getByRole('region', { name: 'Requests' })
      await requests.getByRole('button', { name: 'Watch requests' }).click()
      await fetch(`${mapped.replace('tcp:', 'http:')}/articles`)
      await requests.getByRole('button', { name: 'GET /articles' }).first().click()
    },
    shows: (page) => page.getByText('The request had no valid token or session.'),
    changes: [/^Block /, /^Allow only /],
  },
  {
    name: 'endpoint: panel of a failed endpoint',
    url: ({ failed }) => withAddress('open', failed),
    shows: (page) => page.getByRole('region', { name: 'State' }).getByText('Failed'),
    changes: [/^Try now$/, /^Change port…$/],
  },
  {
    name: 'endpoint: change port',
    url: ({ failed }) => withAddress('port', failed),
    shows: (page, { failed }) => dialog(`Change the port of ${failed}`)(page),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: add',
    url: () => `${ENDPOINTS}/new`,
    async steps(page) {
      await page.getByLabel('Host').selectOption('All addresses (0.0.0.0)')
      await save(page)
    },
    shows: (page) => page.getByText('Enter a port from 1 to 65535.'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: add with databases',
    url: ({ mapped }) => `${ENDPOINTS}/new?${new URLSearchParams({ like: mapped })}`,
    steps: (page) => page.getByRole('combobox', { name: 'Add a database' }).focus(),
    shows: (page) => page.getByRole('list', { name: 'Databases in order' }).getByText('wiki'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: mapping',
    url: ({ mapped }) => withAddress('edit', mapped),
    steps: (page) => addDatabases(page, 'later'),
    shows: (page, { mapped }) => dialog(`Mapping of ${mapped}`)(page).getByText('later').first(),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: policy',
    url: ({ mapped }) => withAddress('policy', mapped),
    async steps(page) {
      await page.getByLabel('Removed').selectOption('At a time…')
      for (const choice of ['Only these networks', 'Read these collections', 'These origins']) {
        await page.getByRole('radio', { name: choice }).check()
      }
      await page.getByRole('button', { name: 'Test', exact: true }).click()
      await save(page)
    },
    shows: (page, { mapped }) =>
      dialog(`Policy of ${mapped}`)(page).getByText('Choose a time in the future.'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: policy with TLS',
    url: ({ encrypted }) => withAddress('policy', encrypted),
    async steps(page) {
      await page.getByText('Required', { exact: true }).click()
      await page.getByRole('button', { name: 'Add a name' }).click()
      await save(page)
    },
    shows: (page) => page.getByText('Enter a name and choose a token in each row.'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: certificate added in place',
    url: ({ encrypted }) => `${ENDPOINTS}/new?${new URLSearchParams({ like: encrypted })}`,
    steps: (page) => page.getByRole('button', { name: 'Add a certificate…' }).click(),
    shows: dialog('Add a certificate'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: policy that would lock out everyone',
    url: ({ own }) => withAddress('policy', own),
    steps: (page) => page.getByText('None here', { exact: true }).click(),
    shows: (page) => page.getByText('Without this endpoint, no one can sign in'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: turn off',
    url: ({ mapped }) => withAddress('switch', mapped),
    shows: (page, { mapped }) => dialog(`Turn off ${mapped}?`)(page),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: remove',
    url: ({ mapped }) => withAddress('remove', mapped),
    shows: (page, { mapped }) => dialog(`Remove ${mapped}?`)(page),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  {
    name: 'endpoint: remove the last admin endpoint',
    url: ({ own }) => withAddress('remove', own),
    shows: (page) => page.getByText('Without this endpoint, no one can sign in'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  bulkDialog('Add a database', /^Add a database to 2 endpoints$/),
  bulkDialog('Remove a database', /^Remove a database from 2 endpoints$/),
  bulkDialog('Turn off', /^Turn off 2 endpoints\?$/),
  bulkDialog('Remove endpoints', /^Remove 2 endpoints\?$/),
]
