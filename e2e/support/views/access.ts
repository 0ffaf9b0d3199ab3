import { dialog, save, type View } from './view.ts'

const PEOPLE = 'Only admins can see people, other people’s tokens and providers.'

export const ACCESS_VIEWS: readonly View[] = [
  {
    name: 'people',
    list: true,
    url: () => '/_console/access/people',
    shows: (page) => page.getByRole('button', { name: 'Give access to Paul…' }),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'person',
    list: true,
    url: ({ ids }) => `/_console/access/people/${ids.admin}`,
    shows: (page) => page.getByText('This session'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: give access',
    url: ({ ids }) => `/_console/access/people?give=${ids.viewer}`,
    shows: dialog('Access of Vera'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: invite',
    url: () => '/_console/access/people?invite=yes',
    shows: (page) => page.getByLabel('Signs in with'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: remove access',
    url: ({ ids }) => `/_console/access/people?deny=${ids.viewer}`,
    shows: dialog('Remove access of Vera?'),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'people: limit to databases',
    url: ({ ids }) => `/_console/access/people/${ids.viewer}?give=${ids.viewer}`,
    async steps(page) {
      await page.getByLabel('Only these').check()
      await page.getByRole('checkbox', { name: 'blog' }).check()
    },
    shows: dialog('Access of Vera'),
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
    shows: (page) => page.getByRole('button', { name: 'Test sign-in with Example ID' }),
    needs: 'admin',
    refusal: PEOPLE,
  },
  {
    name: 'providers: add',
    url: () => '/_console/access/providers?add=yes',
    async steps(page) {
      await page.getByLabel('Provider', { exact: true }).selectOption('oauth2')
      await save(page)
    },
    shows: (page) => page.getByText('Enter the client secret').first(),
    needs: 'admin',
    refusal: PEOPLE,
  },
]
