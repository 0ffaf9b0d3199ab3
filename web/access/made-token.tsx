import { Button } from '@mantine/core'
import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { TokenInfo } from '../../server/contract/token.ts'
import { CopyLine } from '../ui/copy-line.tsx'
import classes from './made-token.module.css'

/** A token, shown this once, and how a program uses it. */
export function MadeToken(props: { token: string; info: TokenInfo; onDone: () => void }) {
  const { token, info, onDone } = props
  return (
    <div className={classes.made}>
      <p>You will not see it again. Put it where the program that uses it keeps its secrets.</p>
      <CopyLine label="Token" text={token} name="the token" />
      <CopyLine label="Try it" text={curlFor(token, info)} name="the command" />
      <div className={classes.actions}>
        <Button variant="filled" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  )
}

/** A command that the token may ask, here. */
function curlFor(token: string, { databases }: TokenInfo): string {
  const administers = databases === null || databases.includes(SYSTEM_DATABASE)
  const path = administers ? `${SYSTEM_DATABASE}/_api/endpoint` : `${databases[0]}/`
  return `curl -H 'Authorization: Bearer ${token}' ${location.origin}/_db/${path}`
}
