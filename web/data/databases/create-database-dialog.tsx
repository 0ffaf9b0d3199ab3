import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { databasesQuery, endpointsQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useCreateDatabase } from '../../shared/create-database.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { CodeInput } from '../../ui/form/code-input.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { useDataLocation } from '../use-data-location.ts'
import { createErrors, nameError } from './database-name.ts'
import { formatServingEndpoints } from './database-rows.ts'

/**
 * Form that creates a database. Viewers see why they cannot.
 *
 * @param onClose closes it on another page, also after a success; by default, the database is shown.
 */
export function CreateDatabaseDialog({ onClose }: { onClose?: () => void }) {
  const location = useDataLocation()
  const close = onClose ?? location.close
  const ownRole = useOwnRole()
  if (useHasRole('operator')) {
    return <CreateForm onClose={close} onCreated={onClose ?? location.showDatabase} />
  }
  return (
    <UnavailableDialog title={ownRole} onClose={close}>
      Only operators and admins can create databases. Ask an admin for that role.
    </UnavailableDialog>
  )
}

/** Schema of the form. `existing` are the names that are taken. */
const databaseSchema = (existing: readonly string[]) =>
  z.object({
    name: z.string().check(
      z.superRefine((name, issues) => {
        const message = nameError(name.trim(), existing, true)
        if (message !== undefined) issues.addIssue(message)
      }),
    ),
  })

function CreateForm(props: { onClose: () => void; onCreated: (name: string) => void }) {
  const { onClose: close, onCreated } = props
  const { data: existing = [] } = useQuery(databasesQuery)
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const form = useDraftForm({
    draft: 'new database',
    initialValues: { name: '' },
    schema: databaseSchema(existing),
  })
  const name = form.values.name.trim()
  const create = useCreateDatabase({ onCreated: form.deleteDraft })
  const submit = () =>
    form.submit(() =>
      create.mutate(name, {
        // Not called if the dialog was closed before the response.
        onSuccess: () => onCreated(name),
        onError: (error) => form.showErrors(createErrors(error, 'name')),
      }),
    )
  const error = form.errors.name ?? nameError(name, existing, false)
  return (
    <Dialog title="Create database" onClose={close}>
      <FormFrame
        saveLabel="Create database"
        busy={create.isPending}
        form={form}
        sentences={
          error === undefined && name !== '' ? [formatServingEndpoints(name, endpoints)] : []
        }
        onSave={submit}
        onCancel={close}
      >
        <CodeInput
          label="Name"
          description="A letter, then up to 63 letters, digits, “_” and “-”. Case-sensitive."
          placeholder="shop"
          data-autofocus
          {...form.getInputProps('name')}
          error={error}
        />
      </FormFrame>
    </Dialog>
  )
}
