import { useQuery } from '@tanstack/react-query'
import { memo, useDeferredValue, useMemo, useRef } from 'react'
import * as z from 'zod/mini'
import type { Json } from '../../../server/contract/json/json.ts'
import { mergePatch } from '../../../server/contract/json/merge-patch.ts'
import { parseJson } from '../../../server/contract/json/parse-json.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { isTypedName, TypedNameField } from '../../ui/overlay/typed-name-field.tsx'
import { capitalize } from '../../ui/text/capitalize.ts'
import type { StoredDocument } from '../document-client.ts'
import { minifyJson, NEW_DOCUMENT, sortedJson } from '../editor/document-text.ts'
import { ComparedJsonBlock } from '../editor/json-block.tsx'
import { JsonField } from '../editor/json-field.tsx'
import { documentError } from '../editor/syntax-error.ts'
import { useJointScroll } from '../editor/use-joint-scroll.ts'
import { compareDocuments } from '../model/compare-documents.ts'
import { conditionsOf } from '../model/conditions.ts'
import { patchEach, patchMatching } from '../mutations/change-selected.ts'
import { describeGone, formatDocuments } from '../mutations/describe-outcome.ts'
import { useStartJob } from '../mutations/start-job.ts'
import { useChangeSelected } from '../mutations/use-change-selected.ts'
import { formatCollection, useDataLocation } from '../use-data-location.ts'
import { documentText, useJsonForm } from '../use-json-form.ts'
import { describeMatching, useMatchingCount } from './describe-matching.ts'
import classes from './edit-selected-dialog.module.css'
import { type SelectionDialogProps, selectedQuery } from './selection-dialog.ts'

/** Maximum number of documents to read for an example of a change of all that match. */
const EXAMPLES = 6

const patchText = documentText.check(
  z.refine(
    (text) => documentError(text) !== undefined || !Object.hasOwn(Object(parseJson(text)), 'id'),
    'The id cannot be changed.',
  ),
)

/** The schema of the name that confirms a change of all documents that match. */
const typedName = (collection: string) =>
  z
    .string()
    .check(
      z.refine(
        (typed) => isTypedName(typed, collection),
        `Type ${collection} exactly as shown to change its documents.`,
      ),
    )

/** Form that merges a patch into the selected documents, with a preview. */
export function EditSelectedDialog(props: SelectionDialogProps) {
  const { collectionRef, selection, onClose, onDone } = props
  const { ids, isAll } = selection
  const { collection } = collectionRef
  const { search, follow } = useDataLocation()
  const conditions = conditionsOf(search.filter)
  const count = useMatchingCount(collectionRef, search.filter, isAll)
  // If all matching documents are selected, the first ones of the page are an example.
  const read = isAll ? new Set([...ids].slice(0, EXAMPLES)) : ids
  const query = useQuery(selectedQuery(collectionRef, read))
  const form = useJsonForm({
    draft: `changes of ${formatCollection(collectionRef)}`,
    initialValues: { text: NEW_DOCUMENT, name: '' },
    unstored: ['name'],
    schema: z.object({ text: patchText, ...(isAll && { name: typedName(collection) }) }),
  })
  const change = useChangeSelected(collectionRef)
  const start = useStartJob(collectionRef, {
    does: 'changes documents',
    start: (patch: string) => patchMatching(collectionRef, conditions, patch),
    onStarted: form.deleteDraft,
  })
  const { text } = form.values
  const gone = isAll || query.data === undefined ? 0 : ids.size - query.data.length
  const isGone = gone > 0 && gone === ids.size
  const changesOf = useMemo(() => previewChanges(query.data ?? []), [query.data])
  // Up to 500 documents are compared, which must not delay typing.
  const previewed = useDeferredValue(text)
  const changed = useMemo(() => changesOf(previewed), [changesOf, previewed])
  const submit = () =>
    form.submit(() => {
      const patch = minifyJson(text)
      const documents = changesOf(text).map(({ document }) => document)
      if (isAll) {
        start.mutate(patch, { onSuccess: follow, onError: form.showFailure })
      } else if (query.data === undefined) {
        form.showErrors({ form: 'The documents are not loaded yet. Nothing was changed.' })
      } else if (documents.length === 0) {
        form.showErrors({ text: 'This changes none of the documents.' })
      } else {
        change.mutate(() => patchEach(collectionRef, documents, patch), {
          onSuccess: (outcome) => {
            // Failed documents can be retried with the same changes.
            if (outcome.failures.length === 0) form.deleteDraft()
            else form.keepDraft()
            onDone(outcome)
          },
          onError: form.showFailure,
        })
      }
    })
  return (
    <Dialog
      title={isAll ? `Edit documents in ${collection}` : `Edit ${formatDocuments(ids.size)}`}
      width={880}
      deliberate={text !== NEW_DOCUMENT}
      onClose={onClose}
    >
      <FormFrame
        form={form}
        saveLabel={isGone ? 'Clear selection' : 'Change documents'}
        danger={isAll}
        busy={change.isPending || start.isPending}
        sentences={
          isAll
            ? [
                `${capitalize(describeMatching(conditions, count))} will be changed, on all pages. Those that the server rejects stay as they are.`,
                'This cannot be undone.',
              ]
            : [
                ...(gone > 0 ? [`${describeGone(gone)}.`] : []),
                ...(isGone
                  ? []
                  : [`${changed.length} of ${formatDocuments(ids.size)} will change.`]),
              ]
        }
        onSave={isGone ? () => onDone(undefined) : submit}
        onCancel={onClose}
      >
        <JsonField
          form={form}
          label="Changes as JSON"
          note="Fields are replaced, and null removes a field. Other fields are kept."
          first
        />
        <QueryResult query={query} what="the documents">
          {() => <Preview change={changed[0]} />}
        </QueryResult>
        {isAll && (
          <TypedNameField
            name={collection}
            effect="change its documents"
            {...form.getInputProps('name')}
          />
        )}
      </FormFrame>
    </Dialog>
  )
}

const Preview = memo(({ change }: { change: PreviewedChange | undefined }) =>
  change === undefined ? null : <ShownChange {...change} />,
)

function ShownChange({ document, after }: PreviewedChange) {
  const lines = compareDocuments(document.json, JSON.stringify(after))
  const blocks = useRef<HTMLElement>(null)
  useJointScroll(blocks, 'pre')
  return (
    <section ref={blocks} aria-label={`Preview of ${document.id}`} className={classes.preview}>
      <div>
        <p className={classes.label}>
          <span className="mono">{document.id}</span> now
        </p>
        <ComparedJsonBlock label={`${document.id} now`} lines={lines.before} />
      </div>
      <div>
        <p className={classes.label}>After the change</p>
        <ComparedJsonBlock label={`${document.id} after the change`} lines={lines.after} />
      </div>
    </section>
  )
}

interface ParsedDocument {
  readonly document: StoredDocument
  readonly value: Json
  /** The document with sorted fields, to compare it. */
  readonly sorted: string
}

interface PreviewedChange {
  readonly document: StoredDocument
  /** The document after the change. */
  readonly after: Json
}

/**
 * Parses documents for previews of patches. The returned function lists the documents that a patch
 * would change; none if its text is not a patch.
 */
export function previewChanges(
  documents: readonly StoredDocument[],
): (text: string) => readonly PreviewedChange[] {
  // Once, not for each patch while the user types.
  const parsed: readonly ParsedDocument[] = documents.map((document) => {
    const value = parseJson(document.json)
    return { document, value, sorted: sortedJson(value) }
  })
  return (text) => {
    if (documentError(text) !== undefined) return []
    const patch = parseJson(text)
    return parsed.flatMap(({ document, value, sorted }) => {
      const after = mergePatch(structuredClone(value), patch)
      return sortedJson(after) === sorted ? [] : [{ document, after }]
    })
  }
}
