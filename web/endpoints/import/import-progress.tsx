import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { sayCount } from '../traffic.ts'
import classes from './import-progress.module.css'
import { type ImportRun, stopImport } from './import-run.ts'
import { sayMany } from './import-words.ts'

/** How far an import is, and the way to stop it. */
export function ImportProgress({ run }: { run: ImportRun }) {
  const { changes, made, failures, stopping } = run
  const stop = useRef<HTMLButtonElement>(null)
  // What started it is gone from the page.
  useEffect(() => stop.current?.focus(), [])
  const settled = made + failures.size
  return (
    <section className={classes.part} aria-label="Import">
      <div className={classes.line}>
        <p>
          {sayCount(made)} of {sayMany(changes.length, 'change')} made
          {failures.size > 0 && `, ${sayCount(failures.size)} refused`}
        </p>
        <Button
          ref={stop}
          variant="default"
          aria-disabled={stopping || undefined}
          onClick={stopImport}
        >
          {stopping ? 'Stopping…' : 'Stop'}
        </Button>
      </div>
      <progress aria-label="Changes made or refused" value={settled} max={changes.length} />
      <p className={classes.note}>
        Each change is in effect at once. It goes on while you look at other pages of the console.
      </p>
    </section>
  )
}
