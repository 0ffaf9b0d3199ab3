import { Button } from '@mantine/core'
import { type DragEvent, useEffect, useId, useRef, useState } from 'react'
import { IconFileImport } from '../../../shared/ui/icon/icons.tsx'
import { formatPlural } from '../format-import.ts'
import { ImportErrors } from './import-errors.tsx'
import type { ImportFile } from './import-file.ts'
import classes from './import-source.module.css'

/** Import text that was chosen, dropped or typed. */
export interface SourceText {
  readonly text: string
  readonly name: string
  readonly compare: boolean
}

export interface ImportSourceProps {
  readonly text: string
  readonly name: string
  /** The parsed text; `undefined` until the user compares. */
  readonly file: ImportFile | undefined
  /** Whether the user is typing. */
  readonly editing: boolean
  readonly onTake: (source: SourceText, typed: boolean) => void
  readonly onClear: () => void
}

/** Maximum file size in bytes, more than 10,000 endpoints take. */
const MAX_BYTES = 16 * 1024 * 1024
/** Maximum number of characters shown as text; more would slow down the field. */
const MAX_EDITABLE = 200_000

/** Selects a file by picker, drop or paste, and shows its errors. */
export function ImportSource(props: ImportSourceProps) {
  const { text, name, file, editing, onTake, onClear } = props
  const id = useId()
  const picker = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const [isDragOver, setOver] = useState(false)
  const [fileError, setFileError] = useState<string>()
  const pasted = useRef(false)
  const isValid = file?.ok === true && !editing
  const isEditable = text.length <= MAX_EDITABLE

  const read = async (files: FileList | null) => {
    const [chosen, ...more] = files ?? []
    if (chosen === undefined) return
    const error = more.length > 0 ? 'Choose one file at a time.' : tooLarge(chosen)
    setFileError(error)
    if (error !== undefined) return
    try {
      onTake({ text: await chosen.text(), name: chosen.name, compare: true }, false)
    } catch {
      setFileError(`${chosen.name} could not be read. Choose it again.`)
    }
  }
  const edit = () => {
    onTake({ text, name, compare: true }, true)
    // Focus after the field is rendered.
    setTimeout(() => field.current?.focus())
  }
  const drop = {
    'data-over': isDragOver || undefined,
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      void read(event.dataTransfer.files)
    },
  }
  const choose = (
    <>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File of endpoints"
        onChange={(event) => {
          void read(event.currentTarget.files)
          // Lets the user choose the same file again after fixing it.
          event.currentTarget.value = ''
        }}
      />
      <Button
        variant={isValid ? 'default' : 'filled'}
        leftSection={<IconFileImport />}
        onClick={() => picker.current?.click()}
      >
        {text === '' ? 'Choose a file' : 'Choose another file'}
      </Button>
    </>
  )
  const count = isValid ? `, ${formatPlural(file.wanted.length, 'endpoint')}` : ''
  const chosen = text !== '' && (isValid || !isEditable || name !== '')
  return (
    <section className={classes.source} aria-label="Import source" {...drop}>
      <div className={classes.choice}>
        {chosen && (
          <p className={classes.chosen}>
            <span className="mono">{name || 'Typed text'}</span>
            {count}
          </p>
        )}
        {choose}
        {isValid && isEditable && (
          <Button variant="default" onClick={edit}>
            Edit text
          </Button>
        )}
        {text === '' ? (
          <span className="dim">or drop one here</span>
        ) : (
          <Button variant="subtle" onClick={onClear}>
            Start over
          </Button>
        )}
      </div>
      <p role="alert" className={classes.fileError}>
        {fileError}
      </p>
      {!isValid && isEditable && (
        <form
          noValidate
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault()
            onTake({ text, name, compare: true }, false)
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }}
        >
          <label htmlFor={id} className={classes.label}>
            {text === '' ? 'Or paste endpoints as JSON' : 'Endpoints as JSON'}
          </label>
          <textarea
            ref={field}
            id={id}
            className={`mantine-Input-input mono ${classes.text}`}
            rows={12}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            placeholder={'[\n  {"endpoint": "tcp://127.0.0.1:8530", "databases": ["shop"]}\n]'}
            aria-invalid={file?.ok === false ? 'true' : undefined}
            data-error={file?.ok === false || undefined}
            aria-describedby={`${id}-note ${id}-errors`}
            value={text}
            onPaste={() => {
              pasted.current = text === ''
            }}
            onChange={(event) => {
              const whole = pasted.current
              pasted.current = false
              const compare = whole || file !== undefined
              onTake({ text: event.currentTarget.value, name, compare }, !whole)
            }}
          />
          <p id={`${id}-note`} className={classes.note}>
            {editing && file?.ok === true
              ? 'No errors. Preview the changes.'
              : 'Use the format of an exported file. Changes are previewed before they are applied.'}
          </p>
          {(file === undefined || editing) && (
            <div>
              <Button type="submit" variant="default">
                Preview changes
              </Button>
            </div>
          )}
        </form>
      )}
      <div id={`${id}-errors`}>
        {file?.ok === false && (
          <ImportErrors
            errors={file.errors}
            empty={text.trim() === ''}
            onGo={isEditable ? (line) => goToLine(field.current, line) : undefined}
          />
        )}
      </div>
      <FocusAfterError error={file?.ok === false} field={field} />
    </section>
  )
}

/** Focuses the text field when the file has errors. */
function FocusAfterError(props: {
  error: boolean
  field: { readonly current: HTMLElement | null }
}) {
  const { error, field } = props
  useEffect(() => {
    if (error) field.current?.focus()
  }, [error, field])
  return null
}

/** Selects a line of a field and scrolls to it. */
function goToLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  // Approximate, because long lines wrap.
  field.scrollTop = (field.scrollHeight * (line - 3)) / lines.length
}

const tooLarge = ({ name, size }: File): string | undefined =>
  size > MAX_BYTES ? `${name} is larger than 16 MiB. Choose a smaller file.` : undefined
