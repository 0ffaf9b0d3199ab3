import { Button } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { announce } from '../../ui/announce.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { copyText } from '../../ui/text/copy-text.ts'
import { shellQuote } from '../../ui/text/shell-quote.ts'
import classes from './created-token.module.css'

const NOT_COPIED = 'You haven’t copied the token yet. Copy it, or close without copying.'
const COPY_FAILED = 'The browser could not copy the token. Select and copy it manually.'

/**
 * Shows a new token once, with an example command. Until the token is copied, Escape, the close
 * button, Back, and a reload show a warning instead of closing the dialog. A click outside never
 * closes it.
 */
export function CreatedToken(props: { token: string; info: TokenInfo; onDone: () => void }) {
  const { token, info, onDone } = props
  const [copied, setCopied] = useState(false)
  const [warning, setWarning] = useState<string>()
  const mayClose = useRef(false)
  const copyButton = useRef<HTMLButtonElement>(null)
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
      if (mayClose.current || next.pathname === current.pathname) return false
      warn(NOT_COPIED)
      return true
    },
    enableBeforeUnload: () => !mayClose.current,
  })
  useEffect(() => {
    const onCopy = () => {
      if (getSelection()?.toString().includes(token)) keep()
    }
    document.addEventListener('copy', onCopy)
    return () => document.removeEventListener('copy', onCopy)
  }, [token, keep])
  const copy = async () => {
    const done = await copyText(token)
    if (done) keep()
    else warn(COPY_FAILED)
    if (done) announce('Token copied.')
  }
  return (
    <Dialog
      title="Token created"
      width={560}
      deliberate
      onClose={copied ? leave : () => warn(NOT_COPIED)}
    >
      <div className={classes.created}>
        <p>
          Copy the token <strong className={classes.name}>{info.name}</strong> now. It will not be
          shown again.
        </p>
        <CopyLine label="Token" text={token} name="the token" onCopied={keep} />
        <CopyLine
          label="Try it"
          text={curlFor(token, info, location)}
          name="the command"
          onCopied={keep}
        />
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
            {copied ? 'Copied' : 'Copy token'}
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

/** Returns a curl command that the token is allowed to run on this server. */
export function curlFor(
  token: string,
  { databases }: Pick<TokenInfo, 'databases'>,
  { origin }: Pick<Location, 'origin'>,
): string {
  const administers = databases === null || databases.includes(SYSTEM_DATABASE)
  const path = administers ? `${SYSTEM_DATABASE}/_api/endpoint` : `${databases[0]}/`
  const url = shellQuote(`${origin}/_db/${path}`)
  return `curl -H 'Authorization: Bearer ${token}' ${url}`
}
