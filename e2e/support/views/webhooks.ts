import { dialog, save, type View } from './view.ts'

const WEBHOOKS = '/_console/webhooks'
const REFUSED = {
  needs: 'editor',
  refusal: 'Only editors, operators and admins can see and change webhooks.',
} as const

export const WEBHOOK_VIEWS: readonly View[] = [
  {
    name: 'webhooks',
    list: true,
    url: () => `${WEBHOOKS}?open=search`,
    shows: (page) => page.getByText('Nothing has been sent yet.'),
    ...REFUSED,
  },
  {
    name: 'webhooks: add',
    url: () => `${WEBHOOKS}/new`,
    async steps(page) {
      await page.getByLabel('Name', { exact: true }).focus()
      await save(page)
    },
    shows: (page) => page.getByText('Choose a database.'),
    ...REFUSED,
  },
  {
    name: 'webhooks: edit',
    url: () => `${WEBHOOKS}?edit=search`,
    shows: dialog('Edit search'),
    ...REFUSED,
  },
  {
    name: 'webhooks: rotate the secret',
    url: () => `${WEBHOOKS}?rotate=search`,
    shows: dialog('Rotate the secret of search?'),
    ...REFUSED,
  },
  {
    name: 'webhooks: delete',
    url: () => `${WEBHOOKS}?remove=search`,
    shows: dialog('Delete webhook search?'),
    ...REFUSED,
  },
]
