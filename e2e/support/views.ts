import type { Locator, Page } from '@playwright/test'
import type { Role } from '../../server/contract/access/role.ts'
import { addDatabases } from './page/endpoints-page.ts'
import type { SampleData } from './sample-data.ts'

/** A page or dialog of the console in a certain state, by its URL. */
export interface View {
  readonly name: string
  /** Returns its path. */
  readonly url: (sample: SampleData) => string
  /** Returns an element that exists once it is loaded. */
  readonly shows: (page: Page, sample: SampleData) => Locator
  /** Steps before it is checked. */
  readonly steps?: (page: Page, sample: SampleData) => Promise<unknown>
  /** The lowest role with access; default viewer. */
  readonly needs?: Role
  /** The text shown to lower roles. */
  readonly refusal?: string
  /** The status of its response, if it is an error. */
  readonly status?: number
  /** Whether it has a different layout on narrow screens: a list instead of a table. */
  readonly list?: true
  /** Names of controls that operators have and viewers do not; the page explains to viewers why. */
  readonly changes?: readonly RegExp[]
}

const ENDPOINTS = '/_console/endpoints'
const ARTICLES = '/_console/documents/blog/articles'
const OPERATORS_ONLY = 'Only operators and admins can change endpoints'
const PEOPLE = 'Only admins can see people, other people’s tokens and providers.'
const VIEWER = 'You are a viewer'

const withAddress = (key: string, address: string) =>
  `${ENDPOINTS}?${new URLSearchParams({ [key]: address })}`

const dialog = (name: string) => (page: Page) => page.getByRole('dialog', { name })
const heading = (name: string) => (page: Page) => page.getByRole('heading', { level: 1, name })
const save = (page: Page) => page.keyboard.press('Control+Enter')

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

// This list is long because it contains every page and dialog.

/** Every page and dialog for people with a role. */
export const VIEWS: readonly View[] = [
  {
    name: 'endpoints',
    list: true,
    url: () => ENDPOINTS,
    shows: (page) => page.getByText('is used by another program'),
    changes: [/^Add endpoint$/, /^Import$/, /^Select /],
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
    changes: [/^Edit mapping$/, /^Duplicate$/, /^Remove endpoint$/, /command: Store a document/],
  },
  {
    name: 'endpoint: panel of a failed endpoint',
    url: ({ failed }) => withAddress('open', failed),
    shows: (page) => page.getByRole('region', { name: 'State' }).getByText('Failed'),
    changes: [/^Try now$/],
  },
  {
    name: 'endpoint: add',
    url: () => `${ENDPOINTS}/new`,
    async steps(page) {
      await page.getByLabel('Host').selectOption('All addresses (0.0.0.0)')
      await page.getByLabel('Only these').check()
      await save(page)
    },
    shows: (page) => page.getByText('The port is missing.'),
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
  bulkDialog('Remove endpoints', /^Remove 2 endpoints\?$/),
  {
    name: 'map',
    list: true,
    url: () => `${ENDPOINTS}/map`,
    shows: heading('Endpoints'),
    steps: (page) => page.getByRole('table', { name: 'By database' }).waitFor(),
  },
  {
    name: 'import',
    url: () => `${ENDPOINTS}/import`,
    shows: heading('Import endpoints'),
    changes: [/^Choose a file$/],
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
    shows: (page) => page.getByText('travel unencrypted'),
    needs: 'operator',
    refusal: VIEWER,
  },
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
  {
    name: 'people',
    list: true,
    url: () => '/_console/access/people',
    shows: (page) => page.getByRole('combobox', { name: 'Role of Paul' }),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: sessions',
    url: ({ ids }) => `/_console/access/people?sessions=${ids.admin}`,
    shows: (page) => page.getByRole('dialog').getByText('This session'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: change role',
    url: ({ ids }) => `/_console/access/people?change=${ids.viewer}&role=operator`,
    shows: dialog('Make Vera operator?'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'tokens: all',
    list: true,
    url: () => '/_console/access/tokens',
    shows: (page) => page.getByText('nightly backup'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'tokens: create',
    url: () => '/_console/access/tokens/new',
    async steps(page) {
      await page.getByLabel('Only these').check()
      await page.getByLabel('Expires').selectOption('Custom date…')
      await save(page)
    },
    shows: (page) => page.getByText('Enter a name'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'tokens: revoke',
    url: ({ token }) => `/_console/access/tokens?revoke=${token}`,
    shows: dialog('Revoke nightly backup?'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'providers',
    url: () => '/_console/access/providers',
    steps: (page) => page.getByText('GitHub', { exact: true }).click(),
    shows: (page) => page.getByText('GATEHOUSE_GITHUB_CLIENT_ID=…'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'activity',
    list: true,
    url: () => '/_console/activity',
    steps: (page) =>
      page
        .getByRole('button', { name: /^Endpoint added/ })
        .first()
        .click(),
    shows: (page) => page.getByRole('table', { name: 'Before and after' }),
  },
  {
    name: 'activity: nothing matches',
    url: () => '/_console/activity?who=nobody',
    shows: (page) => page.getByText('No activity matches the filter.'),
  },
  {
    name: 'my page',
    list: true,
    url: () => '/_console/me',
    shows: (page) => page.getByText('This session'),
  },
  {
    name: 'my page: create token',
    url: () => '/_console/me/new-token',
    async steps(page) {
      await page.getByRole('textbox', { name: 'Name' }).fill('ci')
      await save(page)
    },
    shows: (page) => page.getByText('Copy the token now. It is not shown again.'),
  },
  {
    name: 'account menu',
    url: () => '/_console/me',
    steps: (page) => page.getByRole('button', { name: 'account menu' }).click(),
    shows: (page) => page.getByRole('menuitem', { name: 'Sign out' }),
  },
  {
    name: 'search',
    url: () => `${ENDPOINTS}#search`,
    steps: (page) => page.getByRole('dialog').getByRole('combobox').fill('o'),
    shows: (page) => page.getByRole('option').first(),
  },
  {
    name: 'search: nothing matches',
    url: () => `${ENDPOINTS}#search`,
    steps: (page) => page.getByRole('dialog').getByRole('combobox').fill('no such thing'),
    shows: (page) => page.getByRole('dialog').getByText('matches “no such thing”'),
  },
  {
    name: 'keyboard shortcuts',
    url: () => `${ENDPOINTS}#keys`,
    shows: (page) => page.getByText('Go to Documents'),
  },
  {
    name: 'page not found',
    url: () => '/_console/no/such/page',
    shows: heading('Page not found'),
  },
]

/** Pages for people without a role and for visitors who are not signed in. */
export const PUBLIC_VIEWS: readonly (View & { readonly as: 'pending' | 'anonymous' })[] = [
  {
    name: 'waiting for a role',
    as: 'pending',
    url: () => ENDPOINTS,
    shows: heading('Waiting for a role'),
  },
  {
    name: 'sign-in',
    as: 'anonymous',
    url: () => '/_console/sign-in',
    shows: (page) => page.getByRole('button', { name: 'Sign in with Example ID' }),
  },
  {
    name: 'sign-in: operator key',
    as: 'anonymous',
    url: () => '/_console/sign-in',
    steps: (page) => page.getByRole('button', { name: 'Sign in with the operator key' }).click(),
    shows: heading('Sign in with the operator key'),
  },
  {
    name: 'error page: not found',
    as: 'anonymous',
    status: 404,
    url: () => '/_console/assets/gone.js',
    shows: heading('Page not found'),
  },
  {
    name: 'error page: sign-in required',
    as: 'anonymous',
    status: 401,
    url: () => '/_db/blog/articles',
    shows: heading('Sign-in required'),
  },
  {
    name: 'error page: sign-in failed',
    as: 'anonymous',
    status: 400,
    url: () => '/_oauth2/local/auth?code=a&state=b',
    shows: heading('You are not signed in'),
  },
]

async function chooseFile(page: Page, records: readonly unknown[]): Promise<void> {
  await page.getByLabel('File of endpoints').setInputFiles({
    name: 'endpoints.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(records, null, 1)),
  })
}
