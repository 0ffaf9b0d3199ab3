import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type DocumentIndex, INDEX_DUPLICATES } from '../../../server/contract/document-index.ts'
import { useHasRole } from '../../api/session/person.ts'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { IconTrash } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { RecordTable } from '../../ui/table/record-table.tsx'
import { useCreateIndex } from '../mutations/create-index.ts'
import type { CollectionRef } from '../use-data-location.ts'
import { IndexFields } from './index-fields.tsx'
import classes from './index-table.module.css'

export interface IndexTableProps {
  readonly indexes: readonly DocumentIndex[]
  readonly collectionRef: CollectionRef
  readonly onDelete: (name: string) => void
}

/**
 * The indexes of a collection with their states. A failed one lists the duplicates, and can be built
 * again.
 */
export function IndexTable({ indexes, collectionRef, onDelete }: IndexTableProps) {
  const mayChange = useHasRole('editor')
  return (
    <RecordTable
      caption={`Indexes of ${collectionRef.collection}`}
      records={indexes}
      idOf={({ name }) => name}
      columns={[
        { head: 'Name', cell: ({ name }) => <span className="mono">{name}</span> },
        { head: 'Fields', cell: ({ fields }) => <IndexFields fields={fields} /> },
        { head: 'Unique', width: 80, cell: ({ unique }) => (unique ? 'Yes' : 'No') },
        { head: 'State', width: 224, cell: (index) => <State index={index} /> },
        ...(mayChange
          ? [
              {
                head: 'Delete',
                width: 56,
                actions: true,
                cell: ({ name }: DocumentIndex) => (
                  <IconButton
                    aria-label={`Delete ${name}`}
                    data-tip="Delete"
                    onClick={() => onDelete(name)}
                  >
                    <IconTrash />
                  </IconButton>
                ),
              },
            ]
          : []),
      ]}
      detailOf={(index) =>
        index.state === 'failed' ? (
          <FailedBuild index={index} collectionRef={collectionRef} />
        ) : undefined
      }
    />
  )
}

function State({ index: { state, progress, name } }: { index: DocumentIndex }) {
  if (state === 'ready') return <StateBadge state="listening" label="Ready" />
  if (state === 'failed') {
    return <StateBadge state="failed" label="Failed" detail="documents have the same values" />
  }
  const percent = Math.floor((progress ?? 0) * 100)
  return (
    <span className={classes.building}>
      <StateBadge state="opening" label="Building…" detail={`${percent}%`} />
      <progress aria-label={`Progress of ${name}`} max={100} value={percent} />
    </span>
  )
}

interface FailedBuildProps {
  readonly index: DocumentIndex
  readonly collectionRef: CollectionRef
}

/** Lists the documents that prevent an index, with a button to build it again. */
function FailedBuild({
  index: { name, fields, unique, duplicates },
  collectionRef,
}: FailedBuildProps) {
  const mayChange = useHasRole('editor')
  const create = useCreateIndex(collectionRef)
  const params = { database: collectionRef.database, collection: collectionRef.collection }
  return (
    <div className={classes.failed}>
      <p>
        The index cannot be unique, because these documents have the same values. Change the
        documents, and build the index again.
        {duplicates.length === INDEX_DUPLICATES &&
          ` Only the first ${INDEX_DUPLICATES} are listed.`}
      </p>
      <ul aria-label="Documents with the same values">
        {duplicates.map((id) => (
          <li key={id}>
            <Link
              to="/data/$database/$collection"
              params={params}
              search={{ open: id }}
              className="mono"
            >
              {id}
            </Link>
          </li>
        ))}
      </ul>
      {mayChange && (
        <Button
          ref={keepFocus}
          variant="default"
          aria-disabled={create.isPending || undefined}
          onClick={() => create.mutate({ name, fields, unique })}
        >
          {create.isPending ? 'Building…' : `Build ${name} again`}
        </Button>
      )}
      {create.error !== null && (
        <p role="alert" className={classes.error}>
          {create.error.message}
        </p>
      )}
    </div>
  )
}
