import { useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { DraftNotice } from '../../shared/ui/form/draft-notice.tsx'
import { showBulkOnPage } from '../bulk/tracked-bulk.ts'
import { readImport } from './file/import-file.ts'
import { ImportSource, type SourceText } from './file/import-source.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportProgress } from './import-progress.tsx'
import { clearImport, resumeImport, useImportRun } from './import-run.ts'

/**
 * The initial draft of an import. It is kept in the tab, so that an interrupted import can
 * continue.
 */
const initialDraft = {
  text: '',
  /** Name of the file; empty for typed text. */
  name: '',
  /** Whether to compare the text with the configuration. Stays set while the user fixes errors. */
  compare: false,
  remove: false,
  /** Number of changes when the import was first started; 0 before. */
  started: 0,
  /** Id of the bulk change; empty before it is started. */
  id: '',
}

/** Selects the import text, previews its changes and runs the import. */
export function ImportForm() {
  const form = useDraftForm({
    draft: 'import',
    initialValues: initialDraft,
    resumes: ({ started }) => started > 0,
  })
  const { values: draft, offer, change, deleteDraft, discardDraft } = form
  const queryClient = useQueryClient()
  const run = useImportRun()
  useEffect(() => {
    if (draft.id !== '') void resumeImport(queryClient, draft.id)
  }, [draft.id, queryClient])
  useEffect(() => {
    showBulkOnPage(run?.id)
    return () => showBulkOnPage(undefined)
  }, [run?.id])
  // While the user fixes errors, the text is validated but stays editable until it is compared.
  const [editing, setEditing] = useState(false)
  const text = useDeferredValue(draft.text)
  const file = useMemo(() => (draft.compare ? readImport(text) : undefined), [draft.compare, text])

  const take = (source: SourceText, typed: boolean) => {
    clearImport()
    setEditing(typed)
    change({ started: 0, id: '', ...source })
  }
  const clear = () => {
    clearImport()
    setEditing(false)
    discardDraft()
  }
  if (run !== undefined && run.end === undefined) return <ImportProgress run={run} />
  return (
    <>
      <DraftNotice offer={offer} />
      <ImportSource
        text={draft.text}
        name={draft.name}
        file={file}
        editing={editing}
        onTake={take}
        onClear={clear}
      />
      {file?.ok === true && !editing && (
        <ImportPreview
          wanted={file.wanted}
          remove={draft.remove}
          started={draft.started}
          run={run}
          onRemove={(remove) => change({ remove })}
          onStart={(total) => change({ started: Math.max(draft.started, total) })}
          onStarted={(id) => change({ id })}
          onDone={deleteDraft}
          onClear={clear}
        />
      )}
    </>
  )
}
