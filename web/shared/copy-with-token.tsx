import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CopyLine } from '../ui/text/copy-line.tsx'
import { copyText } from '../ui/text/copy-text.ts'
import classes from './copy-with-token.module.css'
import { useCreateToken } from './create-token.ts'

const TOKEN_DAYS = 90
const DAY_MS = 86_400_000
const LONGEST_NAME = 64

export interface CopyWithTokenProps {
  /** Describes the command. */
  readonly label: string
  /** The command, in which `$TOKEN` is replaced. */
  readonly text: string
  /** The token that is created; a long name is shortened. */
  readonly token: {
    readonly name: string
    readonly role: 'viewer' | 'editor'
    readonly database: string
  }
}

/**
 * Creates a token for one database and copies the command with it. The command is shown only if it
 * could not be copied.
 */
export function CopyWithToken(props: CopyWithTokenProps) {
  const { label, text, token } = props
  const create = useCreateToken()
  const [uncopied, setUncopied] = useState<string>()
  const createAndCopy = () => {
    const input = {
      name: token.name.slice(0, LONGEST_NAME),
      role: token.role,
      databases: [token.database],
      expires: new Date(Date.now() + TOKEN_DAYS * DAY_MS).toISOString(),
    }
    create.mutate(input, {
      onSuccess: async (created) => {
        const command = text.replace('$TOKEN', created.token)
        setUncopied((await copyText(command)) ? undefined : command)
      },
    })
  }
  const { info } = create.data ?? {}
  return (
    <>
      <button
        type="button"
        className={`link-button ${classes.create}`}
        aria-label={`Copy with a new token: ${label}`}
        aria-disabled={create.isPending || undefined}
        onClick={createAndCopy}
      >
        Copy with a new token
      </button>
      {create.isError && (
        <p role="alert" className={classes.error}>
          {create.error.message}
        </p>
      )}
      {info !== undefined && (
        <p role="status" className={`meta dim ${classes.created}`}>
          {uncopied === undefined
            ? 'The command was copied'
            : 'The browser could not copy the command, so copy it now'}{' '}
          with the new token <strong>{info.name}</strong>, which has the role {info.role} and
          expires in {TOKEN_DAYS} days. The token is not shown again.{' '}
          <Link to="/me" search={{ revoke: info.id }}>
            Revoke it
          </Link>
        </p>
      )}
      {uncopied !== undefined && (
        <CopyLine label="With the token" text={uncopied} name="the command with the token" />
      )}
    </>
  )
}
