import { expect, test } from 'vitest'
import { toWebhookInput, type WebhookDraft, webhookSchema } from './webhook-draft.ts'

const draft: WebhookDraft = {
  name: ' search ',
  url: ' https://example.org/hook ',
  database: 'blog',
  collections: 'articles\nnotes, articles\n',
  filter: ' ?year:gte=2000 ',
}

test('a request names each collection once, and a filter without question mark', () => {
  expect(toWebhookInput(draft)).toEqual({
    name: 'search',
    url: 'https://example.org/hook',
    database: 'blog',
    collections: ['articles', 'notes'],
    filter: 'year:gte=2000',
  })
})

test.each<[keyof WebhookDraft, string]>([
  ['name', ''],
  ['name', 'two words'],
  ['url', 'example.org'],
  ['url', 'https://ada@example.org/'],
  ['database', ''],
  ['collections', ' \n'],
  ['collections', '_feed'],
  ['collections', Array.from({ length: 21 }, (_, at) => `c${at}`).join('\n')],
])('the field %s cannot be %j', (field, value) => {
  expect(webhookSchema.safeParse(draft).success).toBe(true)
  const issues = webhookSchema.safeParse({ ...draft, [field]: value }).error?.issues ?? []
  expect(issues.map(({ path }) => path)).toEqual([[field]])
})
