import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { isCollectionName } from '../../../server/contract/document.ts'
import { type DocumentIndex, INDEX_FIELDS } from '../../../server/contract/document-index.ts'
import { ApiFailure, NoResponse } from '../../api/client.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { CodeInput } from '../../ui/form/code-input.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { SuggestField } from '../../ui/form/suggest-field.tsx'
import { IconPlus, IconX } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { useFilterSuggestions } from '../filter/use-filter-suggestions.ts'
import { parseField } from '../model/field-path.ts'
import { findSameIndex, nameIndex } from '../model/query-plan.ts'
import { useCreateIndex } from '../mutations/create-index.ts'
import { documentsQuery } from '../queries.ts'
import { formatCollection } from '../use-data-location.ts'
import classes from './create-index-dialog.module.css'
import { useIndexesLocation } from './use-indexes-location.ts'

const NAME_RULE =
  'An index name begins with a lowercase letter and has up to 64 lowercase letters, digits, “_” and “-”.'

interface IndexDraft {
  readonly name: string
  readonly fields: { readonly field: string; readonly order: string }[]
  readonly unique: boolean
}

const schema = z.object({
  name: z.string().check(z.refine((name) => name === '' || isCollectionName(name), NAME_RULE)),
  fields: z.array(
    z.object({
      field: z.string().check(z.refine((field) => field.trim() !== '', 'Choose or enter a field.')),
    }),
  ),
})

const fieldsOf = ({ fields }: IndexDraft, known: readonly string[]) =>
  fields
    .map(({ field, order }) => order + parseField(field, known))
    .filter((field) => !/^-?$/.test(field))

/** Assigns an error of the server to a field. It names a member of the body, or a path parameter. */
function toErrors(error: Error) {
  const field = error instanceof ApiFailure ? (error.field ?? '') : ''
  if (field === 'name') return { name: error.message }
  return { [/^\/?fields/.test(field) ? 'fields.0.field' : 'form']: error.message }
}

const UNKNOWN = 'The index may or may not have been created. It is safe to try again.'

/** Describes the result of saving. `same` is an index with the same definition. */
function describeResult(same: DocumentIndex | undefined): string {
  if (same === undefined)
    return 'The index is built in the background. Queries use it once it is ready.'
  return same.state === 'failed'
    ? `The index ${same.name} has this definition and failed. It will be built again.`
    : `The index ${same.name} already has this definition, so no other one will be created.`
}

/** Form that creates an index. */
export function CreateIndexDialog({ indexes }: { indexes: readonly DocumentIndex[] }) {
  const { collectionRef, close } = useIndexesLocation()
  // Its documents suggest fields.
  useQuery(documentsQuery(collectionRef, {}))
  const suggestions = useFilterSuggestions(collectionRef)
  const form = useDraftForm<IndexDraft>({
    draft: `index of ${formatCollection(collectionRef)}`,
    initialValues: { name: '', fields: [{ field: '', order: '' }], unique: false },
    schema,
  })
  const create = useCreateIndex(collectionRef, { onCreated: form.deleteDraft })
  const { fields } = form.values
  const known = suggestions.fields()
  const chosen = fieldsOf(form.values, known)
  const definition = { fields: chosen, unique: form.values.unique }
  const automatic = nameIndex(definition, indexes)
  // After a success, the list contains the new index itself.
  const isUnsent = create.isIdle || create.isError
  const { name } = form.values
  const named = name === '' ? indexes : indexes.filter((index) => index.name === name)
  const same = isUnsent ? findSameIndex(definition, named) : undefined
  const isUnknown = create.error instanceof NoResponse && same === undefined
  const formError = form.errors.form && `${form.errors.form}${isUnknown ? ` ${UNKNOWN}` : ''}`
  const submit = () =>
    form.submit((draft) =>
      create.mutate(
        {
          name: draft.name === '' ? automatic : draft.name,
          fields: chosen,
          unique: draft.unique,
        },
        {
          onSuccess: close,
          onError: (error) => form.showErrors(toErrors(error)),
        },
      ),
    )
  return (
    <Dialog
      title={`Create index on ${collectionRef.collection}`}
      name={collectionRef.collection}
      width={560}
      onClose={close}
    >
      <FormFrame
        form={form}
        saveLabel="Create index"
        busy={create.isPending}
        error={formError}
        sentences={[
          describeResult(same),
          ...(form.values.unique
            ? [
                'Two documents cannot have the same values. Documents without the fields are exempt.',
              ]
            : []),
        ]}
        onSave={submit}
        onCancel={close}
      >
        <fieldset className={classes.fields}>
          <legend>Fields</legend>
          {fields.map(({ field }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: fields are identified by their position
            <div key={at} className={classes.field}>
              <SuggestField
                aria-label={`Field ${at + 1}`}
                placeholder="author.name"
                className={classes.name}
                suggestions={known}
                data-autofocus={at === 0 || undefined}
                {...form.getInputProps(`fields.${at}.field`)}
              />
              <NativeSelect
                aria-label={`Order of field ${at + 1}`}
                className={classes.order}
                data={[
                  { value: '', label: 'Ascending' },
                  { value: '-', label: 'Descending' },
                ]}
                {...form.getInputProps(`fields.${at}.order`)}
              />
              {fields.length > 1 && (
                <IconButton
                  aria-label={`Remove field ${field === '' ? at + 1 : field}`}
                  onClick={() => form.removeListItem('fields', at)}
                >
                  <IconX />
                </IconButton>
              )}
            </div>
          ))}
          {fields.length < INDEX_FIELDS && (
            <Button
              variant="subtle"
              className={classes.add}
              leftSection={<IconPlus />}
              onClick={() => form.insertListItem('fields', { field: '', order: '' })}
            >
              Add field
            </Button>
          )}
        </fieldset>
        <CodeInput
          label="Name"
          description="Leave it empty to name the index after its fields."
          placeholder={chosen.length === 0 ? 'by-author' : automatic}
          {...form.getInputProps('name')}
        />
        <label className={classes.unique}>
          <input
            type="checkbox"
            checked={form.values.unique}
            onChange={(event) => form.setValues({ unique: event.currentTarget.checked })}
          />
          Unique
        </label>
      </FormFrame>
    </Dialog>
  )
}
