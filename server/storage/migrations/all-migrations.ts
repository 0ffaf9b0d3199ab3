import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { endpoints } from './0001-endpoints.ts'
import { access } from './0002-access.ts'
import { documents } from './0003-documents.ts'
import { jobs } from './0004-jobs.ts'
import { schemas } from './0005-schemas.ts'
import { nodes } from './0006-nodes.ts'
import { roleNotices } from './0007-role-notices.ts'
import { listings } from './0008-listings.ts'
import { databaseIds } from './0009-database-ids.ts'
import { failuresByEnd } from './0010-failures-by-end.ts'
import { stagedDocuments } from './0011-staged-documents.ts'
import { auditIndexes } from './0012-audit-indexes.ts'
import { endpointChanges } from './0013-endpoint-changes.ts'
import { accessTokenOnly } from './0014-access-token-only.ts'
import { documentIndexes } from './0015-document-indexes.ts'
import { jobResults } from './0016-job-results.ts'
import { documentCtids } from './0017-document-ctids.ts'
import { jobCallers } from './0018-job-callers.ts'
import { visibleJobs } from './0019-visible-jobs.ts'
import { endBulkChanges } from './0020-end-bulk-changes.ts'
import { dropDocumentCtids } from './0021-drop-document-ctids.ts'
import { limitedPeople } from './0022-limited-people.ts'
import { policies } from './0023-policies.ts'
import { groupRoles } from './0024-group-roles.ts'
import { certificates } from './0025-certificates.ts'
import { acme } from './0026-acme.ts'
import { feeds } from './0027-feeds.ts'
import { webhooks } from './0028-webhooks.ts'
import { auditTokens } from './0029-audit-tokens.ts'
import { managedProviders } from './0030-managed-providers.ts'
import { trafficMinutes } from './0031-traffic-minutes.ts'
import { invitationNotes } from './0032-invitation-notes.ts'

/**
 * Returns all migrations by name, in execution order. Append only: stores record the names of the
 * migrations they have run, so a released name must not be changed or removed.
 */
export function allMigrations(engine: EngineName): Record<string, Migration> {
  return {
    '0001-endpoints': endpoints(engine),
    '0002-access': access(engine),
    '0003-documents': documents(engine),
    '0004-jobs': jobs(engine),
    '0005-schemas': schemas(engine),
    '0006-nodes': nodes(engine),
    '0007-role-notices': roleNotices(engine),
    '0008-listings': listings(),
    '0009-database-ids': databaseIds(),
    '0010-failures-by-end': failuresByEnd(),
    '0011-staged-documents': stagedDocuments(engine),
    '0012-audit-indexes': auditIndexes(engine),
    '0013-endpoint-changes': endpointChanges(engine),
    '0014-access-token-only': accessTokenOnly(),
    '0015-document-indexes': documentIndexes(engine),
    '0016-job-results': jobResults(),
    '0017-document-ctids': documentCtids(engine),
    '0018-job-callers': jobCallers(),
    '0019-visible-jobs': visibleJobs(engine),
    '0020-end-bulk-changes': endBulkChanges(),
    '0021-drop-document-ctids': dropDocumentCtids(),
    '0022-limited-people': limitedPeople(),
    '0023-policies': policies(engine),
    '0024-group-roles': groupRoles(),
    '0025-certificates': certificates(engine),
    '0026-acme': acme(),
    '0027-feeds': feeds(engine),
    '0028-webhooks': webhooks(engine),
    '0029-audit-tokens': auditTokens(engine),
    '0030-managed-providers': managedProviders(engine),
    '0031-traffic-minutes': trafficMinutes(engine),
    '0032-invitation-notes': invitationNotes(),
  }
}
