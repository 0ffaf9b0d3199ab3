import { Button, FileInput, Textarea } from '@mantine/core'
import { type PropsWithChildren, type ReactNode, useId, useRef } from 'react'
import { DropArea } from '../../ui/form/drop-area.tsx'
import { FormFrame, type FormFrameProps } from '../../ui/form/form-frame.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { Dialog, DialogActions, type DialogProps } from '../../ui/overlay/dialog.tsx'
import type { DraftForm } from '../forms/use-draft-form.ts'
import classes from './import.module.css'
import { ErrorList, type ListedError } from './import-outcome.tsx'
import type { Import, ImportValues } from './use-import.ts'

/** How a kind of import is described to its users. */
export interface ImportWords {
  /** Formats and size of the file. */
  readonly file: string
  /** The `accept` attribute of the file. */
  readonly accept: string
  /** Label and example of the text; omitted if it cannot be pasted. */
  readonly text?: { readonly label: string; readonly placeholder: string }
  /** Label of the progress. */
  readonly progress: string
  /** Describes what stays after Cancel. */
  readonly kept: string
  /** Describes an import that ended with its page. */
  readonly interrupted: string
}

type FrameProps = Pick<FormFrameProps, 'saveLabel' | 'danger' | 'unavailable' | 'sentences'>

export interface ImportDialogProps<T extends ImportValues, R>
  extends Pick<DialogProps, 'title' | 'name' | 'width' | 'returnTo'>,
    FrameProps {
  readonly form: DraftForm<T>
  readonly run: Import<never, R>
  readonly words: ImportWords
  readonly busy?: boolean
  /** The fields above the source. */
  readonly target?: ReactNode
  /** The error of the file that the preview has found. */
  readonly fileError?: string | undefined
  readonly preview: ReactNode
  /** The errors that the preview has found. */
  readonly errors?: readonly ListedError[]
  readonly outcome: (result: R) => ReactNode
  readonly onStart: () => void
  readonly onClose: () => void
}

/** Maximum number of errors that a preview shows. */
const MAX_ERRORS = 100

/**
 * Dialog of an import: a file or a text, options, which are the children, and a preview; then the
 * progress with Cancel, and the result.
 */
export function ImportDialog<T extends ImportValues, R>(
  props: PropsWithChildren<ImportDialogProps<T, R>>,
) {
  const { title, name, width = 880, returnTo, form, run, words, target, fileError } = props
  const {
    preview,
    errors = [],
    outcome,
    onStart,
    onClose,
    children,
    busy = false,
    ...frame
  } = props
  const { file, text } = form.values
  const field = useRef<HTMLTextAreaElement>(null)
  const hasSource = file !== null || text.trim() !== ''
  // The form shows the reason why the import failed.
  const shown = errors.filter(({ message }) => !String(form.errors.form ?? '').startsWith(message))
  const choose = (chosen: File | null) => form.setValues({ file: chosen } as Partial<T>)
  return (
    <Dialog
      title={title}
      name={name}
      width={width}
      deliberate={hasSource}
      onClose={() => (run.isPending ? run.setLeaving(!run.isLeaving) : onClose())}
      {...(returnTo && { returnTo })}
    >
      {run.isPending ? (
        <Progress run={run} words={words} />
      ) : run.result !== undefined ? (
        outcome(run.result)
      ) : (
        <FormFrame {...frame} busy={busy} onSave={onStart} onCancel={onClose}>
          {form.restored?.begun === true && <p className="warning">{words.interrupted}</p>}
          <DropArea onDrop={([first]) => choose(first ?? file)}>
            {target}
            <FileInput
              label="File"
              description={words.file}
              placeholder="Choose a file or drop it here"
              accept={words.accept}
              clearable
              clearButtonProps={{ 'aria-label': 'Remove the file', ref: keepFocus }}
              data-autofocus={!target || undefined}
              value={file}
              error={form.errors.file ?? fileError}
              onChange={choose}
            />
            {file === null && words.text !== undefined && (
              <Textarea
                ref={field}
                label={words.text.label}
                placeholder={words.text.placeholder}
                classNames={{ input: `mono ${classes.text}` }}
                rows={5}
                spellCheck={false}
                {...form.getInputProps('text')}
              />
            )}
          </DropArea>
          {children}
          {hasSource && (
            <section aria-label="Preview" className={classes.preview}>
              {preview}
              <ErrorList
                errors={shown}
                max={MAX_ERRORS}
                onGo={file === null ? (line) => goToLine(field.current, line) : undefined}
              />
            </section>
          )}
        </FormFrame>
      )}
    </Dialog>
  )
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

/** Shows the progress with Cancel. Asks before the dialog is closed. */
function Progress({ run, words }: { run: Import<never, unknown>; words: ImportWords }) {
  const { progress, isLeaving, setLeaving, cancel, cancelAndClose } = run
  const question = useId()
  return (
    <>
      <progress
        className={classes.progress}
        aria-label={words.progress}
        max={100}
        value={progress.fraction === undefined ? undefined : Math.floor(progress.fraction * 100)}
      />
      <p role="status" className="dim">
        {progress.text} Keep this page open. If you cancel, {words.kept}.
      </p>
      {isLeaving ? (
        <>
          <p id={question} className={`warning ${classes.question}`}>
            Closing this dialog cancels the import.
          </p>
          <DialogActions>
            <Button variant="default" onClick={cancelAndClose}>
              Cancel import and close
            </Button>
            <Button
              variant="filled"
              onClick={() => setLeaving(false)}
              aria-describedby={question}
              autoFocus
            >
              Keep importing
            </Button>
          </DialogActions>
        </>
      ) : (
        <DialogActions>
          <Button variant="default" onClick={cancel} autoFocus>
            Cancel import
          </Button>
        </DialogActions>
      )}
    </>
  )
}
