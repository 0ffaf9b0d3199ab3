import { TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { NoAnswer } from '../api.ts'
import { collectionsQuery } from '../queries.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { sayBytes, sayCount } from '../ui/say-bytes.ts'
import { deleteAll } from './document-requests.ts'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

/** Asks before all documents of a collection are deleted: its name is to be typed. */
export function DeleteAllDialog({ place }: { place: Place }) {
  const { database, collection } = place
  const { close, follow } = useDocumentsLocation()
  const { data: collections } = useQuery(collectionsQuery(database))
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<string>()
  const remove = useMutation({ mutationFn: () => deleteAll(place), onSuccess: follow })
  const run = () => {
    if (typed.trim() === collection) remove.mutate()
    else setFault(`Type ${collection} to delete its documents, exactly as it is written.`)
  }
  const size = collections?.find(({ name }) => name === collection)
  const { documents = null, bytes = null } = size ?? {}
  return (
    <ConfirmDialog
      title={`Delete all documents of ${collection}?`}
      name={collection}
      keep="Keep them"
      fault={
        remove.error instanceof NoAnswer
          ? `${remove.error.message} We do not know whether it was begun. Look before you try again.`
          : (remove.error?.message ?? '')
      }
      confirm={{ label: 'Delete all documents', busy: remove.isPending, run }}
      onClose={close}
    >
      <p>
        {documents === null || bytes === null
          ? 'Every document in it is deleted'
          : `${sayCount(documents)} document${documents === 1 ? '' : 's'} (${sayBytes(bytes)}) of ${database} ${documents === 1 ? 'is' : 'are'} deleted`}{' '}
        and cannot be brought back, also those that the filter hides. The schema of the collection
        stays.
      </p>
      <TextInput
        label={
          <>
            Type <span className="mono">{collection}</span> to delete them
          </>
        }
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        value={typed}
        error={fault}
        data-autofocus
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setFault(undefined)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !remove.isPending) run()
        }}
      />
    </ConfirmDialog>
  )
}
