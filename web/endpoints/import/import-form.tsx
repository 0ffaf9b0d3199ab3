import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { DraftNotice } from '../../shared/ui/form/draft-notice.tsx'
import { dismissBulk, showImportOnPage } from '../bulk/bulk-run.ts'
import { readImport } from './file/import-file.ts'
import { ImportSource, type SourceText } from './file/import-source.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportProgress } from './import-progress.tsx'
import { isImporting, useImportRun } from './import-run.ts'

/**
 * The initial draft of an import. It is kept in the tab, so that an interrupted import can be
 * repeated.
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
}

/** Selects the import text, previews its changes and runs the import. */
export function ImportForm() {
  const form = useDraftForm({
    draft: 'import',
    initialValues: initialDraft,
    resumes: ({ started }) => started > 0,
  })
  const { values: draft, offer, change, deleteDraft, discardDraft } = form
  const run = useImportRun()
  useEffect(showImportOnPage, [])
  // While the user fixes errors, the text is validated but stays editable until it is compared.
  const [editing, setEditing] = useState(false)
  const text = useDeferredValue(draft.text)
  const file = useMemo(() => (draft.compare ? readImport(text) : undefined), [draft.compare, text])

  // Another bulk change may be shown meanwhile.
  const clearRun = () => {
    if (run !== undefined) dismissBulk()
  }
  const take = (source: SourceText, typed: boolean) => {
    clearRun()
    setEditing(typed)
    change({ started: 0, ...source })
  }
  const clear = () => {
    clearRun()
    setEditing(false)
    discardDraft()
  }
  if (isImporting(run)) return <ImportProgress run={run} />
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
          onDone={deleteDraft}
          onClear={clear}
        />
      )}
    </>
  )
}
