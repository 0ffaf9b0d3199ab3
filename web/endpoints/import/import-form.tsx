import { useDeferredValue, useMemo, useState } from 'react'
import { useKeptDraft } from '../../use-kept-draft.ts'
import { readImport } from './import-file.ts'
import { ImportPreview } from './import-preview.tsx'
import { ImportProgress } from './import-progress.tsx'
import { forgetImport, useImportRun } from './import-run.ts'
import { ImportSource, type SourceText } from './import-source.tsx'

/** What an import begins with; kept in this tab, so that one that is interrupted can go on. */
const begin = {
  text: '',
  /** Of the file; empty for what was typed. */
  name: '',
  /** Whether it was asked to be compared: from then on it is, also while it is mended. */
  compare: false,
  remove: false,
  /** How many changes there were when it was started; 0 before. */
  started: 0,
}

/** Chooses what is imported, shows what it would change, and changes it. */
export function ImportForm() {
  const { draft, restored, change, forget, startAfresh } = useKeptDraft('import', begin)
  const run = useImportRun()
  // What is being mended is judged as it is typed, and stays a field until it is to be compared.
  const [editing, setEditing] = useState(false)
  const text = useDeferredValue(draft.text)
  const file = useMemo(() => (draft.compare ? readImport(text) : undefined), [draft.compare, text])

  const take = (source: SourceText, typed: boolean) => {
    forgetImport()
    setEditing(typed)
    change({ started: 0, ...source })
  }
  const clear = () => {
    forgetImport()
    setEditing(false)
    startAfresh()
  }
  if (run !== undefined && run.end === undefined) return <ImportProgress run={run} />
  return (
    <>
      <ImportSource
        text={draft.text}
        name={draft.name}
        restored={restored}
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
          onDone={forget}
          onClear={clear}
        />
      )}
    </>
  )
}
