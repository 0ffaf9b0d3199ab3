import { Button } from '@mantine/core'
import { IconFileImport } from '@tabler/icons-react'
import { type DragEvent, useEffect, useId, useRef, useState } from 'react'
import { ImportFaults } from './import-faults.tsx'
import type { ImportFile } from './import-file.ts'
import classes from './import-source.module.css'
import { sayMany } from './import-words.ts'

/** What was chosen, dropped or typed. */
export interface SourceText {
  readonly text: string
  readonly name: string
  readonly compare: boolean
}

/** What {@link ImportSource} shows. */
export interface ImportSourceProps {
  readonly text: string
  readonly name: string
  /** Whether it was chosen before a reload or a sign-in. */
  readonly restored: boolean
  /** As it was read; `undefined` while it was not asked for. */
  readonly file: ImportFile | undefined
  /** Whether it is being typed. */
  readonly editing: boolean
  readonly onTake: (source: SourceText, typed: boolean) => void
  readonly onClear: () => void
}

/** More than ten thousand endpoints take, in bytes: it is another file. */
const LARGEST = 16 * 1024 * 1024
/** More than this is not shown as text: a field with it would be slow, and nobody would read it. */
const LEGIBLE = 200_000

/** Where a file is chosen or dropped, or text is pasted, and what is wrong with it. */
export function ImportSource(props: ImportSourceProps) {
  const { text, name, restored, file, editing, onTake, onClear } = props
  const id = useId()
  const picker = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const [over, setOver] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const pasted = useRef(false)
  const good = file?.ok === true && !editing
  const legible = text.length <= LEGIBLE

  const read = async (files: FileList | null) => {
    const [chosen, ...more] = files ?? []
    if (chosen === undefined) return
    const fault = more.length > 0 ? 'Choose one file at a time.' : tooLarge(chosen)
    setRefusal(fault)
    if (fault !== undefined) return
    try {
      onTake({ text: await chosen.text(), name: chosen.name, compare: true }, false)
    } catch {
      setRefusal(`${chosen.name} could not be read. Choose it again.`)
    }
  }
  const drop = {
    'data-over': over || undefined,
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
          // So that the same file, mended, can be chosen again.
          event.currentTarget.value = ''
        }}
      />
      <Button
        variant={good ? 'default' : 'filled'}
        leftSection={<IconFileImport size={16} stroke={1.5} aria-hidden="true" />}
        onClick={() => picker.current?.click()}
      >
        {text === '' ? 'Choose a file' : 'Choose another file'}
      </Button>
    </>
  )
  const count = good ? `, ${sayMany(file.wanted.length, 'endpoint')}` : ''
  const chosen = text !== '' && (good || !legible || name !== '')
  return (
    <section className={classes.source} aria-label="What is imported" {...drop}>
      {restored && <p className={classes.restored}>What you chose before is back.</p>}
      <div className={classes.choice}>
        {chosen && (
          <p className={classes.chosen}>
            <span className="mono">{name || 'Typed text'}</span>
            {count}
          </p>
        )}
        {choose}
        {text === '' ? (
          <span className="dim">or drop one here</span>
        ) : (
          <Button variant="subtle" onClick={onClear}>
            Start afresh
          </Button>
        )}
      </div>
      <p role="alert" className={classes.refusal}>
        {refusal}
      </p>
      {!good && legible && (
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
            className={`mono ${classes.text}`}
            rows={12}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            placeholder={'[\n  {"endpoint": "tcp://127.0.0.1:8530", "databases": ["shop"]}\n]'}
            aria-invalid={file?.ok === false ? 'true' : undefined}
            aria-describedby={`${id}-note ${id}-faults`}
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
              ? 'No fault is left. Compare to see what would change.'
              : 'As Export writes it. Nothing changes before you have seen what would.'}
          </p>
          {(file === undefined || editing) && (
            <div>
              <Button type="submit" variant="default">
                Compare
              </Button>
            </div>
          )}
        </form>
      )}
      <div id={`${id}-faults`}>
        {file?.ok === false && (
          <ImportFaults
            faults={file.faults}
            empty={text.trim() === ''}
            onGo={legible ? (line) => goToLine(field.current, line) : undefined}
          />
        )}
      </div>
      <FocusAfterRefusal fault={file?.ok === false} field={field} />
    </section>
  )
}

/** Whoever is refused stands at what is to be mended. */
function FocusAfterRefusal(props: {
  fault: boolean
  field: { readonly current: HTMLElement | null }
}) {
  const { fault, field } = props
  useEffect(() => {
    if (fault) field.current?.focus()
  }, [fault, field])
  return null
}

/** Selects a line of a field and brings it into sight. */
function goToLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  // Long lines wrap, so this is about right, not exact.
  field.scrollTop = (field.scrollHeight * (line - 3)) / lines.length
}

const tooLarge = ({ name, size }: File): string | undefined =>
  size > LARGEST ? `${name} has more than 16 MiB. Is it the right file?` : undefined
