import { dialog, save, type View } from './view.ts'

const PEOPLE = 'Only admins can see people, other people’s tokens and providers.'

export const ACCESS_VIEWS: readonly View[] = [
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
    name: 'people: limit to databases',
    url: ({ ids }) => `/_console/access/people?change=${ids.viewer}&role=viewer`,
    async steps(page) {
      await page.getByLabel('Only these').check()
      await page.getByRole('checkbox', { name: 'blog' }).check()
    },
    shows: dialog('Databases of Vera'),
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
    shows: dialog('Revoke token nightly backup?'),
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
]
