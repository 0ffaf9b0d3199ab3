import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure, answer, api, NoAnswer } from '../api.ts'
import { useMay } from '../person.ts'
import { databasesQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import type { DatabaseRow } from './database-rows.ts'
import { SYSTEM_STAYS } from './database-table.tsx'
import { dropConsequences } from './drop-consequences.ts'
import { findDatabase } from './find-database.ts'
import { useDatabasesLocation } from './use-databases-location.ts'

/** What a {@link DropDatabaseDialog} asks about. */
export interface DropDatabaseDialogProps {
  readonly name: string
  /** Undefined: it does not exist (any more). */
  readonly row: DatabaseRow | undefined
  /** Whether it is known which endpoints name it. */
  readonly reachKnown: boolean
}

/** Asks before a database is dropped: its name is to be typed. Where it cannot be, why. */
export function DropDatabaseDialog({ name, row, reachKnown }: DropDatabaseDialogProps) {
  const { close } = useDatabasesLocation()
  const mayChange = useMay('operator')
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<string>()
  const drop = useMutation({
    mutationFn: async () => {
      await answer(api._api.database[':name'].$delete({ param: { name } })).catch(
        (error: unknown) => {
          // Dropped by somebody else is dropped.
          if (!(error instanceof ApiFailure && error.status === 404)) throw error
        },
      )
    },
    onSuccess: async () => {
      announce(`Database ${name} was dropped.`)
      await queryClient.invalidateQueries({ queryKey: databasesQuery.queryKey })
      close()
    },
  })
  const dialog = { keep: 'Keep it', onClose: close, returnTo: () => findDatabase(name) }
  if (name === '_system') {
    return (
      <ConfirmDialog {...dialog} title="_system cannot be dropped">
        <p>{SYSTEM_STAYS} Its collections can be deleted on the Documents page.</p>
      </ConfirmDialog>
    )
  }
  if (!mayChange) {
    return (
      <ConfirmDialog {...dialog} title="You are a viewer" keep="Back to the list">
        <p>Databases are dropped by operators and admins. An admin can give you that role.</p>
      </ConfirmDialog>
    )
  }
  if (row === undefined) {
    if (!drop.isIdle) return null
    return (
      <ConfirmDialog
        {...dialog}
        title={`There is no database ${name}`}
        name={name}
        keep="Back to the list"
      >
        <p>It was dropped in the meantime, or never existed.</p>
      </ConfirmDialog>
    )
  }
  const run = () => {
    if (typed.trim() === name) drop.mutate()
    else setFault(`Type ${name} to drop it, exactly as it is written.`)
  }
  const refusal = drop.error instanceof NoAnswer ? `${drop.error.message} ${UNKNOWN}` : undefined
  return (
    <ConfirmDialog
      {...dialog}
      title={`Drop database ${name}?`}
      name={name}
      fault={refusal ?? drop.error?.message ?? ''}
      confirm={{ label: 'Drop database', busy: drop.isPending, run }}
    >
      {dropConsequences(row, reachKnown).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <TextInput
        label={
          <>
            Type <span className="mono">{name}</span> to drop it
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
          if (event.key === 'Enter' && !drop.isPending) run()
        }}
      />
    </ConfirmDialog>
  )
}

const UNKNOWN = 'We do not know whether it was dropped. Look at the list before you try again.'
