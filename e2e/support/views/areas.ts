import { ACCESS_VIEWS } from './access.ts'
import { CERTIFICATE_VIEWS } from './certificates.ts'
import { DATABASE_VIEWS } from './databases.ts'
import { DOCUMENT_VIEWS } from './documents.ts'
import { ENDPOINT_MAP_VIEWS } from './endpoint-map.ts'
import { ENDPOINT_VIEWS } from './endpoints.ts'
import { OTHER_VIEWS } from './other.ts'
import type { View } from './view.ts'
import { WEBHOOK_VIEWS } from './webhooks.ts'

/** Every page and dialog for people with a role, by area of the console. */
export const AREAS: Readonly<Record<string, readonly View[]>> = {
  'table of endpoints': ENDPOINT_VIEWS,
  'map and import of endpoints': ENDPOINT_MAP_VIEWS,
  certificates: CERTIFICATE_VIEWS,
  databases: DATABASE_VIEWS,
  documents: DOCUMENT_VIEWS,
  webhooks: WEBHOOK_VIEWS,
  access: ACCESS_VIEWS,
  'activity, own page, search and shortcuts': OTHER_VIEWS,
}
