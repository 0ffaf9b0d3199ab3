import { Button } from '@mantine/core'
import { Notice } from './notice.tsx'

/** Says that something could not be loaded, why, and offers to try again. Never a blank page. */
export function LoadFailure(props: { what: string; error: Error; onRetry: () => void }) {
  return (
    <Notice
      failed
      action={
        <Button variant="default" onClick={props.onRetry}>
          Try again
        </Button>
      }
    >
      {props.what} could not be loaded. {props.error.message}
    </Notice>
  )
}
