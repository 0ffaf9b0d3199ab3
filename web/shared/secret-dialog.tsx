import { Button } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type PropsWithChildren, useCallback, useEffect, useRef, useState } from 'react'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { capitalize } from '../ui/text/capitalize.ts'
import { CopyLine } from '../ui/text/copy-line.tsx'
import { copyText } from '../ui/text/copy-text.ts'
import classes from './secret-dialog.module.css'

export interface SecretDialogProps {
  readonly title: string
  /** What the secret is, such as "token". */
  readonly what: string
  readonly secret: string
  /** A command that uses the secret. */
  readonly example?: string
  readonly onDone: () => void
}

/**
 * Shows a new secret once. Until it is copied, Escape, the close button, Back, and a reload show a
 * warning instead of closing the dialog. A click outside never closes it.
 */
export function SecretDialog(props: PropsWithChildren<SecretDialogProps>) {
  const { title, what, secret, example, onDone, children } = props
  const [copied, setCopied] = useState(false)
  const [warning, setWarning] = useState<string>()
  const mayClose = useRef(false)
  const copyButton = useRef<HTMLButtonElement>(null)
  const notCopied = `You haven’t copied the ${what} yet. Copy it, or close without copying.`
  const leave = () => {
    mayClose.current = true
    onDone()
  }
  const warn = (text: string) => {
    setWarning(text)
    copyButton.current?.focus()
  }
  const keep = useCallback(() => {
    mayClose.current = true
    setCopied(true)
    setWarning(undefined)
  }, [])
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      // The search and the shortcuts, which open over the dialog, are fragments.
      if (mayClose.current || pageOf(next) === pageOf(current)) return false
      warn(notCopied)
      return true
    },
    enableBeforeUnload: () => !mayClose.current,
  })
  useEffect(() => {
    const onCopy = () => {
      if (getSelection()?.toString().includes(secret)) keep()
    }
    document.addEventListener('copy', onCopy)
    return () => document.removeEventListener('copy', onCopy)
  }, [secret, keep])
  const copy = async () => {
    const done = await copyText(secret)
    if (done) keep()
    else warn(`The browser could not copy the ${what}. Select and copy it manually.`)
    if (done) announce(`${capitalize(what)} copied.`)
  }
  return (
    <Dialog title={title} width={560} deliberate onClose={copied ? leave : () => warn(notCopied)}>
      <div className={classes.created}>
        {children}
        <CopyLine label={capitalize(what)} text={secret} name={`the ${what}`} onCopied={keep} />
        {example !== undefined && (
          <CopyLine label="Try it" text={example} name="the command" onCopied={keep} />
        )}
        <p role="alert" className={classes.warning}>
          {warning}
        </p>
        <div className={classes.actions}>
          {!copied && (
            <Button variant="default" onClick={leave}>
              Close without copying
            </Button>
          )}
          <Button
            ref={copyButton}
            variant={copied ? 'default' : 'filled'}
            onClick={copy}
            data-autofocus
          >
            {copied ? 'Copied' : `Copy ${what}`}
          </Button>
          {copied && (
            <Button variant="filled" onClick={leave}>
              Done
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

/** Returns the path and the query of a location. A dialog may be a query. */
const pageOf = ({ pathname, search }: { pathname: string; search: object }): string =>
  `${pathname} ${JSON.stringify(search)}`
