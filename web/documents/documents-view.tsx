import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { PropsWithChildren } from 'react'
import { useHasRole } from '../shared/session/person.ts'
import { NoMatch } from '../shared/ui/feedback/no-match.tsx'
import { Notice } from '../shared/ui/feedback/notice.tsx'
import { QueryResult } from '../shared/ui/feedback/query-result.tsx'
import { documentsQuery } from './queries.ts'
import { ReadFailure } from './read-failure.tsx'
import { DocumentTable } from './table/document-table.tsx'
import { Pager } from './table/pager.tsx'
import { type CollectionRef, useDocumentsLocation } from './use-documents-location.ts'

/** Lists the documents of a collection, filtered and in pages. */
export function DocumentsView({ collectionRef }: { collectionRef: CollectionRef }) {
  const { list } = useDocumentsLocation()
  const query = useQuery(documentsQuery(collectionRef, list))
  return (
    <>
      <QueryResult
        query={query}
        what="the documents"
        failed={(error) => (
          <ReadFailure
            what={`The documents of ${collectionRef.collection}`}
            database={collectionRef.database}
            error={error}
            onRetry={query.refetch}
          />
        )}
      >
        {({ documents }) =>
          documents.length === 0 ? (
            <Nothing collectionRef={collectionRef} />
          ) : (
            <DocumentTable
              documents={documents}
              caption={`Documents of ${collectionRef.collection}`}
            />
          )
        }
      </QueryResult>
      <Pager next={query.data?.next} loading={query.isPending} />
    </>
  )
}

function Nothing({ collectionRef }: { collectionRef: CollectionRef }) {
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
        No document of {collectionRef.collection} matches “{search.filter}”.
      </NoMatch>
    )
  }
  return <NoDocuments>{collectionRef.collection} contains no documents.</NoDocuments>
}

/** Shown in place of an empty list, with a button that creates the first document. */
export function NoDocuments({ children }: PropsWithChildren) {
  const { create } = useDocumentsLocation()
  const mayChange = useHasRole('operator')
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
