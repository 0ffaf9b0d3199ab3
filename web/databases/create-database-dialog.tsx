import { TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure, answer, api, NoAnswer } from '../api.ts'
import { useMay } from '../person.ts'
import { databasesQuery, endpointsQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { nameFault } from './database-name.ts'
import { sayWhoReaches } from './database-rows.ts'
import { findDatabase } from './find-database.ts'
import { useDatabasesLocation } from './use-databases-location.ts'

/** The form in which a database is created; for viewers, why not. */
export function CreateDatabaseDialog() {
  const { close } = useDatabasesLocation()
  if (useMay('operator')) return <CreateForm />
  return (
    <ConfirmDialog title="You are a viewer" keep="Back to the list" onClose={close}>
      <p>Databases are created by operators and admins. An admin can give you that role.</p>
    </ConfirmDialog>
  )
}

interface Faults {
  readonly name?: string
  readonly form?: string
}

function CreateForm() {
  const { open, close } = useDatabasesLocation()
  const queryClient = useQueryClient()
  const { data: existing = [] } = useQuery(databasesQuery)
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const kept = useKeptDraft('new database', { name: '' })
  const name = kept.draft.name.trim()
  const [{ faults, raised }, setFaults] = useState<{ faults: Faults; raised: number }>({
    faults: {},
    raised: 0,
  })
  const raise = (found: Faults) => setFaults((now) => ({ faults: found, raised: now.raised + 1 }))
  const done = async (made: string) => {
    announce(`Database ${made} was created.`)
    kept.forget()
    await queryClient.invalidateQueries({ queryKey: databasesQuery.queryKey })
    open(made, true)
  }
  const create = useMutation({
    mutationFn: (made: string) => answer(api._api.database.$post({ json: { name: made } })),
    onSuccess: (_, made) => done(made),
    onError: (error) => {
      if (error instanceof NoAnswer) raise({ form: `${error.message} ${UNKNOWN}` })
      else if (error instanceof ApiFailure && [400, 409].includes(error.status)) {
        raise({ name: error.message })
      } else raise({ form: error.message })
    },
  })
  const submit = () => {
    const fault = nameFault(name, existing, true)
    if (fault === undefined) create.mutate(name)
    else raise({ name: fault })
  }
  const fault = faults.name ?? nameFault(name, existing, false)
  return (
    <Dialog
      title="Create database"
      onClose={close}
      returnTo={() => (create.isSuccess ? findDatabase(create.variables) : undefined)}
    >
      <FormFrame
        saveLabel="Create database"
        busy={create.isPending}
        fault={faults.form}
        raised={raised}
        sentences={fault === undefined && name !== '' ? [sayWhoReaches(name, endpoints)] : []}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
        onSave={submit}
        onCancel={close}
      >
        <TextInput
          label="Name"
          description="A letter, then up to 63 letters, digits, “_” and “-”. Case counts."
          placeholder="shop"
          classNames={{ input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={kept.draft.name}
          error={fault}
          data-autofocus
          onChange={(event) => {
            kept.change({ name: event.currentTarget.value })
            setFaults((now) => ({ ...now, faults: {} }))
          }}
        />
      </FormFrame>
    </Dialog>
  )
}

const UNKNOWN = 'We do not know whether it was created. Look at the list before you try again.'
