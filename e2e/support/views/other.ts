import { heading, save, type View } from './view.ts'

const ENDPOINTS = '/_console/endpoints'

export const OTHER_VIEWS: readonly View[] = [
  {
    name: 'overview',
    list: true,
    url: () => '/_console/overview?range=24h',
    steps: (page) => page.getByText('Show as a table').click(),
    shows: (page) => page.getByRole('table'),
  },
  {
    name: 'overview: crosshair',
    url: () => '/_console/overview',
    steps: (page) => page.getByRole('slider').first().press('Home'),
    shows: (page) => page.getByRole('button', { name: 'Create database' }).first(),
  },
  {
    name: 'about',
    url: () => '/_console/overview#about',
    shows: (page) => page.getByText('SQLite'),
  },
  {
    name: 'activity',
    list: true,
    url: () => '/_console/activity',
    steps: (page) =>
      page
        .getByRole('button', { name: / added endpoint / })
        .first()
        .click(),
    shows: (page) => page.getByText('Raw JSON'),
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
    shows: (page) => page.getByText('It will not be shown again.'),
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
    shows: (page) => page.getByText('Go to Overview'),
  },
  {
    name: 'page not found',
    url: () => '/_console/no/such/page',
    shows: heading('Page not found'),
  },
]
