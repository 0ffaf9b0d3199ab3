import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { FormFrame } from '../ui/form/form-frame.tsx'
import { IconTrash } from '../ui/icon/icons.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { CollectionHead } from './collection-head.tsx'
import { DocumentConflict } from './dialogs/document-conflict.tsx'
import { ConflictError, type StoredJson } from './document-client.ts'
import { formatJson } from './editor/document-text.ts'
import { JsonBlock } from './editor/json-block.tsx'
import { JsonField } from './editor/json-field.tsx'
import { useRemoveSchema, useSaveSchema } from './mutations/save-schema.ts'
import { schemaQuery } from './queries.ts'
import { ReadResult } from './read-result.tsx'
import classes from './schema-page.module.css'
import { type CollectionRef, formatCollection } from './use-data-location.ts'
import { schemaText, useJsonForm } from './use-json-form.ts'

/** Initial text for a collection without a schema. */
const INITIAL_TEXT = `{
  "type": "object",
  "required": [],
  "properties": {}
}`

/** The Schema page, which shows and edits the JSON Schema of a collection. */
export function SchemaPage() {
  const { database = '', collection = '' }: Partial<CollectionRef> = useParams({ strict: false })
  const collectionRef = { database, collection }
  const mayChange = useHasRole('editor')
  const query = useQuery(schemaQuery(collectionRef))
  usePageTitle('Schema', collection, database, 'Data')
  return (
    <>
      <CollectionHead database={database} collection={collection} tab="/schema" />
      <ReadResult query={query} what="the schema" database={database}>
        {(schema) =>
          mayChange ? (
            <SchemaForm
              key={`${database}/${collection}`}
              collectionRef={collectionRef}
              schema={schema}
            />
          ) : (
            <ReadOnly schema={schema} />
          )
        }
      </ReadResult>
    </>
  )
}

function ReadOnly({ schema }: { schema: StoredJson | null }) {
  const ownRole = useOwnRole()
  return (
    <>
      <p className={classes.way}>
        {ownRole}. Only editors, operators and admins can change schemas.
      </p>
      {schema === null ? (
        <Notice>No schema. Any JSON object can be stored.</Notice>
      ) : (
        <JsonBlock label="Schema as JSON" text={formatJson(schema.json)} />
      )}
    </>
  )
}

function SchemaForm({
  collectionRef,
  schema,
}: {
  collectionRef: CollectionRef
  schema: StoredJson | null
}) {
  const queryClient = useQueryClient()
  const form = useJsonForm({
    draft: `schema of ${formatCollection(collectionRef)}`,
    initialValues: {
      text: schema === null ? INITIAL_TEXT : formatJson(schema.json),
      etag: schema?.etag ?? '',
    },
    schema: z.object({ text: schemaText }),
  })
  const { text, etag } = form.values
  const [theirs, setTheirs] = useState<StoredJson>()
  const [isOpen, setIsOpen] = useState(false)
  /** What the last save or removal did, until the text is changed. */
  const [result, setResult] = useState<string>()
  const isUnchanged =
    theirs === undefined && text === (schema === null ? INITIAL_TEXT : formatJson(schema.json))
  const settle = (now: StoredJson | null, shown: string) => {
    form.setValues({ etag: now?.etag ?? '', text: shown })
    queryClient.setQueryData(schemaQuery(collectionRef).queryKey, now)
    setTheirs(undefined)
    form.clearErrors()
  }
  const showError = (error: Error) => {
    if (!(error instanceof ConflictError)) return form.showFailure(error)
    if (error.current !== null) return setTheirs(error.current)
    settle(null, text)
    form.showErrors({
      form: 'Someone removed the schema. Your changes were not saved. Save again to set it.',
    })
  }
  const reset = (now: StoredJson | null) => {
    settle(now, now === null ? INITIAL_TEXT : formatJson(now.json))
    form.deleteDraft()
  }
  /** Discards the input and ends a conflict. Shows the stored version. */
  const discardDraft = () => {
    form.discardDraft()
    if (theirs !== undefined) reset(theirs)
  }
  const save = useSaveSchema(collectionRef, { onSaved: form.deleteDraft })
  const remove = useRemoveSchema(collectionRef, { onRemoved: form.deleteDraft })
  const { collection } = collectionRef
  const submit = () => {
    setResult(undefined)
    if (theirs !== undefined)
      return form.showErrors({ form: 'Choose “Take theirs” or “Keep mine” first.' })
    form.submit(() =>
      save.mutate(
        { json: text, etag: etag === '' ? undefined : etag },
        {
          onSuccess: (saved) => {
            reset(saved)
            setResult(`The schema of ${collection} was saved.`)
          },
          onError: showError,
        },
      ),
    )
  }
  return (
    <div className={classes.form}>
      <FormFrame
        form={form}
        saveLabel="Save schema"
        busy={save.isPending}
        // The initial text can be saved: it is not stored yet.
        unavailable={isUnchanged && etag !== '' ? 'There are no changes to save.' : undefined}
        unchanged={isUnchanged}
        sentences={isUnchanged && result !== undefined ? [result] : []}
        other={
          etag !== '' &&
          theirs === undefined && (
            <Button
              variant="subtle"
              data-danger
              className={classes.remove}
              leftSection={<IconTrash />}
              onClick={() => setIsOpen(true)}
            >
              Remove schema
            </Button>
          )
        }
        onSave={submit}
        onCancel={discardDraft}
      >
        {theirs !== undefined ? (
          <DocumentConflict
            what="schema"
            theirs={formatJson(theirs.json)}
            yours={text}
            onTakeTheirs={() => settle(theirs, formatJson(theirs.json))}
            onKeepYours={() => settle(theirs, text)}
          />
        ) : (
          <JsonField
            form={form}
            label="Schema as JSON"
            note={
              etag === ''
                ? 'No schema yet, so any JSON object can be stored. JSON Schema, draft 2020-12.'
                : 'JSON Schema, draft 2020-12. It applies to new and changed documents. Existing documents are not checked until they are changed.'
            }
            first={false}
          />
        )}
      </FormFrame>
      {isOpen && (
        <ConfirmDialog
          title={`Remove the schema of ${collectionRef.collection}?`}
          name={collectionRef.collection}
          keep="Keep it"
          confirm={{
            label: 'Remove schema',
            busy: remove.isPending,
            run: () =>
              remove.mutate(etag, {
                onSuccess: () => {
                  reset(null)
                  setResult(`The schema of ${collection} was removed.`)
                },
                onError: showError,
                onSettled: () => setIsOpen(false),
              }),
          }}
          onClose={() => setIsOpen(false)}
        >
          <p>Documents will not be changed. Any JSON object can be stored afterwards.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}
