import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { useHasRole } from '../../api/session/person.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { IconPencil, IconTrash } from '../../ui/icon/icons.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { SidePanel } from '../../ui/layout/side-panel.tsx'
import { useCopied } from '../../ui/text/copy-text.ts'
import type { StoredDocument } from '../document-client.ts'
import { formatJson } from '../editor/document-text.ts'
import { FindField } from '../editor/find-field.tsx'
import { JsonBlock, markRanges } from '../editor/json-block.tsx'
import { findDocumentElement } from '../find-document-element.ts'
import { documentFormQuery, documentQuery } from '../queries.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import classes from './document-panel.module.css'

const EditDocument = lazy(async () => ({
  default: (await import('./edit-document.tsx')).EditDocument,
}))

export interface DocumentPanelProps {
  readonly collectionRef: CollectionRef
  readonly id: string
  readonly isEditing: boolean
}

/** Panel beside the table with a document, which is edited in place. */
export function DocumentPanel({ collectionRef, id, isEditing }: DocumentPanelProps) {
  const { close } = useDataLocation()
  const queryOf = isEditing ? documentFormQuery : documentQuery
  const { data, error, refetch } = useQuery(queryOf(collectionRef, id))
  const isGone = error instanceof ApiFailure && error.status === 404
  /** Discards the input of the form before the panel closes. */
  const discard = useRef<() => void>(undefined)
  const loading = <SkeletonRows what="the document" />
  const content = () => {
    if (data !== undefined && isEditing) {
      return (
        <Suspense fallback={loading}>
          <EditDocument collectionRef={collectionRef} document={data} onDiscard={discard} />
        </Suspense>
      )
    }
    if (data !== undefined && !isGone) return <Stored document={data} />
    if (error === null) return loading
    if (!isGone) return <LoadFailure what="The document" error={error} onRetry={refetch} />
    return (
      <Notice
        action={
          <Button variant="default" onClick={close}>
            Close
          </Button>
        }
      >
        {/* The message of the server repeats the id. */}
        {error.id === 'not_found'
          ? `There is no document ${id}. It was deleted or never existed.`
          : error.message}
      </Notice>
    )
  }
  return (
    <SidePanel
      label={`${isEditing ? 'Edit document' : 'Document'} ${id}`}
      title={id}
      onClose={() => {
        discard.current?.()
        close()
      }}
      backTo={() => findDocumentElement(id)}
    >
      <div className={classes.content}>{content()}</div>
    </SidePanel>
  )
}

/** A stored document with its actions. */
function Stored({ document: { id, json } }: { document: StoredDocument }) {
  const { edit, remove } = useDataLocation()
  const mayChange = useHasRole('editor')
  const [copied, copy] = useCopied()
  const block = useRef<HTMLPreElement>(null)
  const text = formatJson(json)
  return (
    <>
      <div className={classes.bar}>
        <FindField text={text} onFind={(found, at) => markRanges(block.current, found, at)} />
        <Button variant="default" onClick={() => copy(text, `The JSON of ${id}`)}>
          {copied === text ? 'Copied' : 'Copy JSON'}
        </Button>
        {mayChange && (
          <Button
            ref={keepFocus}
            variant="filled"
            leftSection={<IconPencil />}
            onClick={() => edit(id)}
          >
            Edit document
          </Button>
        )}
      </div>
      <JsonBlock ref={block} label={`Document ${id} as JSON`} text={text} whole />
      {mayChange && (
        <Button
          variant="subtle"
          data-danger
          className={classes.delete}
          leftSection={<IconTrash />}
          onClick={() => remove(id)}
        >
          Delete document
        </Button>
      )}
    </>
  )
}
