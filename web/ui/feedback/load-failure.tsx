import { Button } from '@mantine/core'
import { keepFocus } from '../layout/keep-focus.ts'
import { Notice } from './notice.tsx'

/** Reports that data failed to load, with the reason and a retry button. */
export function LoadFailure(props: { what: string; error: Error; onRetry: () => void }) {
  return (
    <Notice
      failed
      action={
        <Button ref={keepFocus} variant="default" onClick={props.onRetry}>
          Try again
        </Button>
      }
    >
      {props.what} could not be loaded. {props.error.message}
    </Notice>
  )
}
