import type { FormErrors } from '@mantine/form'
import * as z from 'zod/mini'
import { isCollectionName } from '../../server/contract/document.ts'
import {
  WEBHOOK_COLLECTIONS,
  type WebhookInput,
  type WebhookRecord,
  webhookInput,
} from '../../server/contract/webhook.ts'
import { toFormErrors } from '../shared/forms/to-form-errors.ts'

/** The form of a webhook as typed. */
export interface WebhookDraft {
  readonly name: string
  readonly url: string
  readonly database: string
  /** One per line. */
  readonly collections: string
  readonly filter: string
}

/** Returns the form of a new webhook, or of one to edit. */
export const webhookDraft = (edited?: WebhookRecord): WebhookDraft => ({
  name: edited?.name ?? '',
  url: edited?.url ?? '',
  database: edited?.database ?? '',
  collections: edited?.collections.join('\n') ?? '',
  filter: edited?.filter ?? '',
})

/** Returns the collections of a draft, without repetitions. */
export const collectionsOf = ({ collections }: Pick<WebhookDraft, 'collections'>): string[] => [
  ...new Set(collections.split(/[\s,]+/).filter((name) => name !== '')),
]

/** Returns the request body of a draft. */
export const toWebhookInput = (draft: WebhookDraft): WebhookInput => ({
  name: draft.name.trim(),
  url: draft.url.trim(),
  database: draft.database,
  collections: collectionsOf(draft),
  // A query is often copied with its question mark.
  filter: draft.filter.trim().replace(/^\?/, ''),
})

const { name: nameRule, url: urlRule } = webhookInput.shape

const field = (
  path: keyof WebhookDraft,
  error: string,
  isValid: (draft: WebhookDraft) => boolean,
) => z.refine<WebhookDraft>(isValid, { path: [path], error })

/** The schema of a draft. The server checks addresses, feeds and filters. */
export const webhookSchema = z.custom<WebhookDraft>().check(
  field(
    'name',
    'Enter 1 to 64 letters, digits, “_” or “-”, beginning with a letter or digit.',
    ({ name }) => nameRule.safeParse(name.trim()).success,
  ),
  field(
    'url',
    'Enter a URL that begins with https:// or http://, without a user name and a fragment.',
    ({ url }) => urlRule.safeParse(url.trim()).success,
  ),
  field('database', 'Choose a database.', ({ database }) => database !== ''),
  field('collections', `Enter 1 to ${WEBHOOK_COLLECTIONS} names of collections.`, (draft) => {
    const names = collectionsOf(draft)
    const isCounted = names.length > 0 && names.length <= WEBHOOK_COLLECTIONS
    return isCounted && names.every(isCollectionName)
  }),
)

/** Fields whose errors depend on each other: another database has other collections. */
export const webhookGroups = [['database', 'collections']] as const

/** Assigns all problems that the server has found to their fields. */
export const toWebhookErrors = (error: Error): FormErrors =>
  toFormErrors(error, {
    name: 'name',
    url: 'url',
    database: 'database',
    collections: 'collections',
    filter: 'filter',
  })
