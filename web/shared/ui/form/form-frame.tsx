import { Button } from '@mantine/core'
import { type PropsWithChildren, useEffect, useRef } from 'react'
import classes from './form-frame.module.css'

/** What {@link FormFrame} holds together. */
export interface FormFrameProps {
  /** Verb and thing: "Add endpoint". */
  readonly saveLabel: string
  readonly busy: boolean
  /** What it waits for while it is busy; left out: it will be over in a moment. */
  readonly progress?: string | undefined
  /** A fault that belongs to no field. */
  readonly fault: string | undefined
  /** How often faults were shown: each time the first of them gets the focus. */
  readonly raised: number
  /** What will be, once it is saved. */
  readonly sentences: readonly string[]
  /** Where the form holds what was typed before a sign-in or a reload: drops that. */
  readonly onStartAfresh?: (() => void) | undefined
  readonly onSave: () => void
  readonly onCancel: () => void
}

/** The frame of a form in a dialog. Ctrl/⌘ Enter saves from anywhere in it. */
export function FormFrame(props: PropsWithChildren<FormFrameProps>) {
  const { saveLabel, busy, progress, fault, raised, sentences, onStartAfresh } = props
  const { onSave, onCancel } = props
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (raised === 0) return
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]')?.focus()
  }, [raised])
  const waits = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // On a small screen it may be said below the edge.
    if (progress !== undefined) waits.current?.scrollIntoView({ block: 'nearest' })
  }, [progress])
  useEffect(() => {
    const at = form.current
    // A click beside the fields leaves the focus to the dialog itself: from there, too.
    const place = at?.closest<HTMLElement>('[role="dialog"]') ?? at
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      at?.requestSubmit()
    }
    place?.addEventListener('keydown', onKeyDown)
    return () => place?.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <form
      ref={form}
      noValidate
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) onSave()
      }}
    >
      {onStartAfresh !== undefined && (
        <p className={classes.restored}>
          What you typed before is back.
          <Button variant="subtle" onClick={onStartAfresh}>
            Start afresh
          </Button>
        </p>
      )}
      {props.children}
      <div role="status" className={classes.sentences}>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <p ref={waits} role="status" className={classes.progress}>
        {progress}
      </p>
      <p role="alert" className={classes.fault} tabIndex={-1} data-fault={fault && ''}>
        {fault}
      </p>
      <div className={classes.actions}>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        {/* It stays enabled: a form says what is missing instead of refusing to be asked. */}
        <Button variant="filled" type="submit" aria-disabled={busy || undefined}>
          {busy ? (progress === undefined ? 'Saving…' : 'Waiting…') : saveLabel}
        </Button>
      </div>
    </form>
  )
}
