import { dialog, save, type View } from './view.ts'

const CERTIFICATES = '/_console/certificates'
const REFUSED = {
  needs: 'operator',
  refusal: 'Only operators and admins can see and change certificates.',
} as const

export const CERTIFICATE_VIEWS: readonly View[] = [
  {
    name: 'certificates',
    list: true,
    url: () => `${CERTIFICATES}?open=web`,
    shows: (page) => page.getByText('Serial number'),
    ...REFUSED,
  },
  {
    name: 'certificates: add with the local authority',
    url: () => `${CERTIFICATES}/new`,
    steps: (page) => page.getByLabel('Name', { exact: true }).press('Control+Enter'),
    shows: (page) => page.getByText('Enter 1 to 64 lower-case letters'),
    ...REFUSED,
  },
  {
    name: 'certificates: upload',
    url: () => `${CERTIFICATES}/new`,
    async steps(page) {
      await page.getByText('Upload', { exact: true }).click()
      await save(page)
    },
    shows: (page) => page.getByText('Choose a file, or paste the private key.'),
    ...REFUSED,
  },
  {
    name: 'certificates: replace',
    url: () => `${CERTIFICATES}?replace=web`,
    steps: (page) => page.getByText('Files', { exact: true }).click(),
    shows: (page) => page.getByLabel('Path of the private key'),
    ...REFUSED,
  },
  {
    name: 'certificates: delete one in use',
    url: () => `${CERTIFICATES}?remove=web`,
    shows: dialog('web cannot be deleted'),
    ...REFUSED,
  },
  {
    name: 'certificates: delete',
    url: () => `${CERTIFICATES}?remove=unused`,
    shows: dialog('Delete certificate unused?'),
    ...REFUSED,
  },
]
