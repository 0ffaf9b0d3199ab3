import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { PropsWithChildren } from 'react'
import { useMay } from '../shared/session/person.ts'
import { NoMatch } from '../shared/ui/feedback/no-match.tsx'
import { Notice } from '../shared/ui/feedback/notice.tsx'
import { QueryResult } from '../shared/ui/feedback/query-result.tsx'
import { documentsQuery } from './queries.ts'
import { ReadFailure } from './read-failure.tsx'
import { DocumentTable } from './table/document-table.tsx'
import { Pager } from './table/pager.tsx'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** Lists the documents of a collection, filtered and in pages. */
export function DocumentsView({ place }: { place: Place }) {
  const { list } = useDocumentsLocation()
  const query = useQuery(documentsQuery(place, list))
  return (
    <>
      <QueryResult
        query={query}
        what="the documents"
        failed={(error) => (
          <ReadFailure
            what={`The documents of ${place.collection}`}
            database={place.database}
            error={error}
            onRetry={query.refetch}
          />
        )}
      >
        {({ documents }) =>
          documents.length === 0 ? (
            <Nothing place={place} />
          ) : (
            <DocumentTable documents={documents} caption={`Documents of ${place.collection}`} />
          )
        }
      </QueryResult>
      <Pager next={query.data?.next} loading={query.isPending} />
    </>
  )
}

function Nothing({ place }: { place: Place }) {
  const { search, filter, page } = useDocumentsLocation()
  if (search.after !== undefined) {
    return (
      <NoMatch clear="Go to the first page" onClear={() => page(undefined)}>
        No documents after {search.after}.
      </NoMatch>
    )
  }
  if (search.filter !== undefined) {
    return (
      <NoMatch clear="Clear filter" onClear={() => filter('')}>
        No document of {place.collection} matches “{search.filter}”.
      </NoMatch>
    )
  }
  return <NoDocuments>{place.collection} contains no documents.</NoDocuments>
}

/** Shown in place of an empty list, with a button that creates the first document. */
export function NoDocuments({ children }: PropsWithChildren) {
  const { create } = useDocumentsLocation()
  const mayChange = useMay('operator')
  return (
    <Notice
      action={
        mayChange && (
          <Button variant="default" onClick={create}>
            Create the first document
          </Button>
        )
      }
    >
      {children}
    </Notice>
  )
}
