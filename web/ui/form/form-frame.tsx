import { Button } from '@mantine/core'
import { type PropsWithChildren, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { DraftNotice, type DraftOffer } from './draft-notice.tsx'
import classes from './form-frame.module.css'

/** The used part of a `DraftForm`. */
interface FramedForm {
  readonly errors: Readonly<Record<string, ReactNode>>
  readonly errorsShown: number
  readonly offer: DraftOffer | undefined
}

export interface FormFrameProps {
  readonly form: FramedForm
  /** A verb and a noun, such as "Add endpoint". */
  readonly saveLabel: string
  /** Whether only the button saves: Enter and Ctrl/⌘ Enter in the form do not. */
  readonly buttonOnly?: boolean
  /** Whether saving removes something. The button is then red. */
  readonly danger?: boolean
  readonly busy: boolean
  /** Why the form cannot be saved now, such as "There are no changes." */
  readonly unavailable?: string | undefined
  /** Whether Cancel does nothing now. */
  readonly unchanged?: boolean
  /** Another action, at the other side of the buttons. */
  readonly other?: ReactNode
  /** What the form waits for while busy; omit it for short waits. */
  readonly progress?: string | undefined
  /** An error that belongs to no single field. Default: the error of the field `form`. */
  readonly error?: ReactNode
  /** Describes the result of saving. */
  readonly sentences?: readonly string[]
  readonly onSave: () => void
  readonly onCancel: () => void
}

/** Selects the fields of a form. */
const FIELD = 'input, select, textarea, [contenteditable="true"]'

/**
 * Frame of a form in a dialog. Ctrl/⌘ Enter submits it from any field, and while nothing has the
 * focus. Errors that are shown move the focus to the first invalid field.
 */
export function FormFrame(props: PropsWithChildren<FormFrameProps>) {
  const { saveLabel, buttonOnly = false, danger = false, busy, onSave, onCancel } = props
  const { progress, sentences = [], unavailable, unchanged = false, other } = props
  const { errors, errorsShown, offer } = props.form
  const error = props.error === undefined ? errors.form : props.error
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (errorsShown === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-form-error]')?.focus()
  }, [errorsShown])
  useEffect(() => {
    if (buttonOnly && document.activeElement === document.body)
      form.current?.querySelector<HTMLElement>('[data-form-error]')?.focus()
  }, [buttonOnly])
  const hadOffer = useRef(false)
  useEffect(() => {
    // The button that had the focus is removed with the offer.
    const isLost = hadOffer.current && offer === undefined
    if (isLost && document.activeElement === document.body)
      form.current?.querySelector<HTMLElement>(FIELD)?.focus()
    hadOffer.current = offer !== undefined
  }, [offer])
  const waits = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // On a small screen it may be below the fold.
    if (progress !== undefined) waits.current?.scrollIntoView({ block: 'nearest' })
  }, [progress])
  // A layout effect, so that the keys act as soon as the form is on screen.
  useLayoutEffect(() => {
    const at = form.current
    // A click beside the fields focuses the dialog, so listen there.
    const dialog = at?.closest<HTMLElement>('[role="dialog"]')
    const target = dialog ?? at
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      at?.requestSubmit()
    }
    // The body has the focus until the dialog takes it, and after the focused button is removed.
    const onBodyKeyDown = (event: KeyboardEvent) => {
      if (event.target !== document.body || dialog == null) return
      const topmost = [...document.querySelectorAll('[aria-modal="true"]')].at(-1)
      if (topmost === dialog) onKeyDown(event)
    }
    target?.addEventListener('keydown', onKeyDown)
    document.addEventListener('keydown', onBodyKeyDown)
    return () => {
      target?.removeEventListener('keydown', onKeyDown)
      document.removeEventListener('keydown', onBodyKeyDown)
    }
  }, [])
  return (
    <form
      ref={form}
      noValidate
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        // A form in a dialog that this form has opened is within it for React.
        event.stopPropagation()
        if (!busy && !buttonOnly && unavailable === undefined) onSave()
      }}
    >
      <DraftNotice offer={offer} />
      {props.children}
      <div role="status" className={classes.sentences}>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <p ref={waits} role="status" className={`warning ${classes.progress}`}>
        {progress}
      </p>
      <p
        role="alert"
        className={classes.error}
        tabIndex={-1}
        data-form-error={error ? '' : undefined}
      >
        {error}
      </p>
      <div className={classes.actions}>
        {other}
        <Button
          variant="default"
          aria-disabled={unchanged || undefined}
          data-unavailable={unchanged || undefined}
          onClick={() => {
            if (!unchanged) onCancel()
          }}
        >
          Cancel
        </Button>
        {/* Usually enabled, so that submitting shows what is missing. */}
        <Button
          // Replaced, so that a key pressed for the one does not act on the other.
          key={buttonOnly ? 'button' : 'submit'}
          variant={buttonOnly ? 'default' : danger ? 'danger' : 'filled'}
          type={buttonOnly ? 'button' : 'submit'}
          onClick={buttonOnly && !busy && unavailable === undefined ? onSave : undefined}
          aria-disabled={busy || unavailable !== undefined || undefined}
          data-unavailable={unavailable === undefined ? undefined : ''}
          data-tip={busy ? undefined : unavailable}
        >
          {busy ? (progress === undefined ? 'Saving…' : 'Waiting…') : saveLabel}
        </Button>
      </div>
    </form>
  )
}
