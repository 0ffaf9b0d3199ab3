import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../api.ts'
import { useMay } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { useKeptDraft } from '../use-kept-draft.ts'
import { DocumentConflict } from './document-conflict.tsx'
import { deleteSchema, putSchema, readSchema, type StoredSchema } from './document-requests.ts'
import { pretty, schemaFault } from './document-text.ts'
import { JsonEditor } from './json-editor.tsx'
import { JsonField } from './json-field.tsx'
import { schemaQuery } from './queries.ts'
import { ReadFailure } from './read-failure.tsx'
import classes from './schema-page.module.css'
import { placeFailure, useDocumentFaults } from './use-document-faults.ts'
import type { Place } from './use-documents-location.ts'

/** What a first schema begins with. */
const BEGIN = `{
  "type": "object",
  "required": [],
  "properties": {}
}`

/** The schema of a collection: what a document must look like to be stored. */
export function SchemaPage() {
  const { database = '', collection = '' }: Partial<Place> = useParams({ strict: false })
  const place = { database, collection }
  const mayChange = useMay('operator')
  const { data: schema, error, refetch } = useQuery(schemaQuery(place))
  usePageTitle('Schema', collection, database, 'Documents')
  return (
    <>
      <PageHead title={`Schema of ${collection}`} />
      <p className={classes.way}>
        <Link to="/documents/$database/$collection" params={{ database, collection }}>
          Documents of {collection}
        </Link>{' '}
        in {database}
      </p>
      {schema === undefined && error === null && <SkeletonRows what="the schema" />}
      {schema === undefined && error !== null && (
        <ReadFailure what="The schema" database={database} error={error} onRetry={refetch} />
      )}
      {schema !== undefined && mayChange && (
        <SchemaForm key={`${database}/${collection}`} place={place} schema={schema} />
      )}
      {schema !== undefined && !mayChange && <ReadOnly schema={schema} />}
    </>
  )
}

function ReadOnly({ schema }: { schema: StoredSchema | null }) {
  return (
    <>
      <p className={classes.way}>You are a viewer: schemas are changed by operators.</p>
      {schema === null ? (
        <Notice>There is no schema: every JSON object can be stored.</Notice>
      ) : (
        <JsonEditor label="Schema as JSON" text={pretty(schema.json)} />
      )}
    </>
  )
}

function SchemaForm({ place, schema }: { place: Place; schema: StoredSchema | null }) {
  const queryClient = useQueryClient()
  const kept = useKeptDraft(`schema of ${place.database}/${place.collection}`, {
    text: schema === null ? BEGIN : pretty(schema.json),
    etag: schema?.etag ?? '',
  })
  const { text, etag } = kept.draft
  const { faults, raised, field, raise, clear } = useDocumentFaults()
  const [theirs, setTheirs] = useState<StoredSchema>()
  const [asked, setAsked] = useState(false)
  const settle = (now: StoredSchema | null, shown: string) => {
    kept.change({ etag: now?.etag ?? '', text: shown })
    queryClient.setQueryData(schemaQuery(place).queryKey, now)
    setTheirs(undefined)
    clear()
  }
  const movedOn = async (error: Error) => {
    if (!(error instanceof ApiFailure && error.status === 412)) return raise(placeFailure(error))
    const now = await readSchema(place).catch((reason: Error) => reason)
    if (now instanceof Error) return raise(placeFailure(now))
    if (now !== null) return setTheirs(now)
    settle(null, text)
    raise({ form: 'Somebody removed the schema in the meantime. It was not saved: save it anew.' })
  }
  const save = useMutation({
    mutationFn: () => putSchema(place, etag === '' ? undefined : etag, text),
    onSuccess: (now) => {
      announce(`The schema of ${place.collection} was saved.`)
      settle(now, pretty(now.json))
      kept.forget()
    },
    onError: movedOn,
  })
  const remove = useMutation({
    mutationFn: () => deleteSchema(place, etag),
    onSuccess: () => {
      announce(`The schema of ${place.collection} was removed.`)
      setAsked(false)
      settle(null, BEGIN)
      kept.forget()
    },
    onError: async (error) => {
      setAsked(false)
      await movedOn(error)
    },
  })
  const submit = () => {
    if (theirs !== undefined) return raise({ form: 'Take theirs or keep yours first.' })
    const fault = schemaFault(text)
    if (fault === undefined) save.mutate()
    else raise({ text: fault })
  }
  return (
    <div className={classes.form}>
      <FormFrame
        saveLabel="Save schema"
        busy={save.isPending}
        fault={faults.form}
        raised={raised}
        sentences={[]}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
        onSave={submit}
        onCancel={() => {
          kept.startAfresh()
          clear()
        }}
      >
        {theirs !== undefined ? (
          <DocumentConflict
            what="schema"
            theirs={pretty(theirs.json)}
            yours={text}
            onTakeTheirs={() => settle(theirs, pretty(theirs.json))}
            onKeepYours={() => settle(theirs, text)}
          />
        ) : (
          <JsonField
            field={field}
            label="Schema as JSON"
            text={text}
            note={
              etag === ''
                ? 'There is none yet: every JSON object can be stored. JSON Schema, draft 2020-12.'
                : 'JSON Schema, draft 2020-12. It holds for what is stored from now on: documents that are there already are not checked until they are changed.'
            }
            faults={faults}
            first={false}
            onChange={(next) => {
              kept.change({ text: next })
              clear()
            }}
          />
        )}
      </FormFrame>
      {etag !== '' && theirs === undefined && (
        <Button variant="subtle" className={classes.remove} onClick={() => setAsked(true)}>
          Remove schema
        </Button>
      )}
      {asked && (
        <ConfirmDialog
          title={`Remove the schema of ${place.collection}?`}
          name={place.collection}
          keep="Keep it"
          confirm={{ label: 'Remove schema', busy: remove.isPending, run: () => remove.mutate() }}
          onClose={() => setAsked(false)}
        >
          <p>Documents stay as they are. From then on every JSON object can be stored.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}
