import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import classes from './import-outcome.module.css'
import { compareAgain, type ImportRun } from './import-run.ts'
import { sayEnd } from './import-words.ts'

/** How an import ended, and the way on. */
export function ImportOutcome({ run, onClear }: { run: ImportRun; onClear: () => void }) {
  const queryClient = useQueryClient()
  const sentence = useRef<HTMLParagraphElement>(null)
  // The button that stopped it is gone from the page.
  useEffect(() => sentence.current?.focus(), [])
  const done = run.made === run.changes.length
  return (
    <div className={classes.outcome}>
      <p ref={sentence} tabIndex={-1}>
        {sayEnd(run)}
      </p>
      {!run.compared && (
        <>
          <p className="dim">
            It is not known what is configured now. Compare again to see what is left.
          </p>
          <div>
            <Button variant="filled" onClick={() => void compareAgain(queryClient)}>
              Compare again
            </Button>
          </div>
        </>
      )}
      {done && run.compared && (
        <div className={classes.ways}>
          <Link to="/endpoints">Go to Endpoints</Link>
          <Button variant="default" onClick={onClear}>
            Import another file
          </Button>
        </div>
      )}
    </div>
  )
}
