import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { keepFocus } from '../layout/keep-focus.ts'
import { Notice } from './notice.tsx'

/** Shown in place of a list if nothing matches its filter, with a button that clears it. */
export function NoMatch(props: PropsWithChildren<{ clear: string; onClear: () => void }>) {
  return (
    <Notice
      action={
        <Button ref={keepFocus} variant="default" onClick={props.onClear}>
          {props.clear}
        </Button>
      }
    >
      {props.children}
    </Notice>
  )
}
