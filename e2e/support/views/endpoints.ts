import { expect } from '@playwright/test'
import { addDatabases } from '../page/endpoints-page.ts'
import { dialog, save, type View } from './view.ts'

const ENDPOINTS = '/_console/endpoints'
const OPERATORS_ONLY = 'Only operators and admins can change endpoints'

const withAddress = (key: string, address: string, more: Record<string, string> = {}) =>
  `${ENDPOINTS}?${new URLSearchParams({ [key]: address, ...more })}`

/** A tab of the panel of the mapped endpoint. */
const panelTab = (tab: string, view: Omit<View, 'name' | 'url'>): View => ({
  name: `endpoint: panel, ${tab}`,
  url: ({ mapped }) => withAddress('open', mapped, { tab }),
  ...view,
})

/** The form of a section of a policy. */
const section = (name: string, view: Omit<View, 'name' | 'url'> & Partial<View>): View => ({
  name: `endpoint: policy, ${name}`,
  url: ({ mapped }) => withAddress('policy', mapped, { section: name }),
  needs: 'operator',
  refusal: OPERATORS_ONLY,
  ...view,
})

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
    shows: (page) => page.getByRole('region', { name: 'Response times' }),
    changes: [/^Change port…$/, /^Turn off$/, /^Duplicate$/, /^Remove$/],
  },
  panelTab('databases', {
    shows: (page) => page.getByRole('list', { name: 'Databases in order' }),
    changes: [/^Edit mapping$/, /^Create “/],
  }),
  panelTab('policy', {
    shows: (page) => page.getByText('Request bodies'),
    needs: 'operator',
  }),
  panelTab('requests', {
    list: true,
    steps: async (page, { mapped }) => {
      const requests = page.getByRole('tabpanel', { name: 'Requests' })
      await expect(requests.getByRole('status').first()).toHaveText('Live')
      await fetch(`${mapped.replace('tcp:', 'http:')}/articles`)
      await requests.getByRole('button', { name: 'GET /articles' }).first().click()
    },
    shows: (page) => page.getByText('The request had no valid token or session.'),
    changes: [/^Block /, /^Allow only /],
  }),
  panelTab('connect', {
    shows: (page) => page.getByRole('button', { name: 'Copy the command: Check health' }),
    changes: [/^Copy the command: Insert /, /new token: Insert /],
  }),
  panelTab('changes', { shows: (page) => page.getByText('added endpoint') }),
  {
    name: 'endpoint: panel of a failed endpoint',
    url: ({ failed }) => withAddress('open', failed),
    shows: (page) => page.getByRole('region', { name: 'Nodes' }).getByText('Failed'),
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
  section('general', {
    async steps(page) {
      await page.getByLabel('Removal').selectOption('At a time…')
      await save(page)
    },
    shows: (page) => page.getByText('Choose a time in the future.'),
  }),
  section('access', {
    steps: (page) => page.getByRole('radio', { name: 'Only these networks' }).check(),
    shows: (page) => page.getByText('No client can connect.'),
  }),
  section('documents', {
    async steps(page) {
      await page.getByRole('radio', { name: 'Read these collections' }).check()
      await save(page)
    },
    shows: (page) => page.getByText('Enter at least one collection.'),
  }),
  section('pages', {
    async steps(page) {
      await page.getByRole('radio', { name: 'These origins' }).check()
      await save(page)
    },
    shows: (page) => page.getByText('Enter at least one origin'),
  }),
  section('limits', {
    steps: (page) => page.getByLabel('Requests per second').fill('5'),
    shows: (page) => page.getByText('Requests: 5/s for each client (was not limited)'),
  }),
  section('tls', {
    url: ({ encrypted }) => withAddress('policy', encrypted, { section: 'tls' }),
    async steps(page) {
      await page.getByText('Required', { exact: true }).click()
      await page.getByRole('button', { name: 'Add a name' }).click()
      await save(page)
    },
    shows: (page) => page.getByText('Enter a name and choose a token in each row.'),
  }),
  {
    name: 'endpoint: certificate added in place',
    url: ({ encrypted }) => `${ENDPOINTS}/new?${new URLSearchParams({ like: encrypted })}`,
    steps: (page) => page.getByRole('button', { name: 'Add a certificate…' }).click(),
    shows: dialog('Add a certificate'),
    needs: 'operator',
    refusal: OPERATORS_ONLY,
  },
  section('administration', {
    url: ({ own }) => withAddress('policy', own, { section: 'administration' }),
    steps: (page) => page.getByText('None here', { exact: true }).click(),
    shows: (page) => page.getByText('Without this endpoint, no one can sign in'),
  }),
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
