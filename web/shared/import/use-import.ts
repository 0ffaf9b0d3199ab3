import type { FormErrors } from '@mantine/form'
import type { UseMutationResult } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { announce } from '../../ui/announce.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { type DraftForm, type DraftFormOptions, useDraftForm } from '../forms/use-draft-form.ts'
import { storedNothing } from './import-failure.ts'

/** What every form of an import contains. */
export interface ImportValues {
  readonly file: File | null
  /** The pasted text. */
  readonly text: string
  /** Whether an import of this input began, and may have changed something without completing. */
  readonly begun: boolean
}

export interface ImportProgress {
  /** 0 to 1; undefined if it is not known. */
  readonly fraction: number | undefined
  readonly text: string
}

/** What an import needs while it runs. */
export interface ImportControl {
  readonly signal: AbortSignal
  readonly onProgress: (progress: ImportProgress) => void
}

/** Longer text is a file, because a text field would be slow. */
const MAX_PASTED = 200_000

/**
 * Returns the form of an import: a file or a text, and the options of the kind.
 *
 * @param missing the error if neither a file nor a text is entered.
 */
export function useImportForm<T extends object>(
  missing: string,
  { initialValues, schema = z.object({}), groups = [], ...options }: ImportFormOptions<T>,
): DraftForm<T & ImportValues> {
  const source = z.object({ file: z.nullable(z.instanceof(File)), text: z.string() }).check(
    z.refine(({ file, text }) => file !== null || text.trim() !== '', {
      path: ['file'],
      message: missing,
    }),
    z.refine(({ file, text }) => file !== null || text.length <= MAX_PASTED, {
      path: ['text'],
      message: 'The text is too long. Save it as a file and choose that.',
    }),
  )
  return useDraftForm<T & ImportValues>({
    ...options,
    initialValues: { file: null, text: '', begun: false, ...initialValues },
    unstored: ['file'],
    schema: z.intersection(source, schema),
    // The errors of the file also depend on the text.
    groups: [['file', 'text'], ...groups],
  })
}

interface ImportFormOptions<T extends object> {
  readonly draft: string
  readonly initialValues: T
  readonly restore?: DraftFormOptions<T & ImportValues>['restore']
  readonly schema?: z.ZodMiniType
  readonly groups?: DraftFormOptions<T>['groups']
}

/** Returns what `read` finds in a file: undefined until then, null if it cannot be read. */
export function useRead<T>(
  file: File | null,
  read: (file: File) => Promise<T>,
): T | null | undefined {
  const [done, setDone] = useState<{ readonly file: File; readonly found: T | null }>()
  const latest = useLatest(read)
  useEffect(() => {
    if (file === null) return
    latest.current(file).then(
      (found) => setDone({ file, found }),
      () => setDone({ file, found: null }),
    )
  }, [file, latest])
  return done?.file === file ? done?.found : undefined
}

/** An import of a dialog: not begun, in progress, or ended with a result. */
export interface Import<I, R> {
  readonly isPending: boolean
  readonly progress: ImportProgress
  readonly result: R | undefined
  /** Whether the user wants to close the dialog, which would cancel the import. */
  readonly isLeaving: boolean
  readonly setLeaving: (isLeaving: boolean) => void
  readonly begin: (input: I) => void
  /** Returns from the result to the form. */
  readonly reset: () => void
  readonly cancel: () => void
  readonly cancelAndClose: () => void
}

interface ImportOptions {
  readonly close: () => void
  /** Returns the errors of the form after a failure. */
  readonly errorsOf: (error: Error) => FormErrors
  /** The error of the form after it was cancelled. */
  readonly cancelled: string
}

/**
 * Returns the import that a mutation makes. Leaving the page would end it, so the dialog and the
 * browser ask first.
 */
export function useImport<T extends ImportValues, I extends ImportControl, R>(
  form: DraftForm<T>,
  load: UseMutationResult<R, Error, I>,
  { close, errorsOf, cancelled }: ImportOptions,
): Import<Omit<I, keyof ImportControl>, R> {
  const [progress, setProgress] = useState<ImportProgress>(NOT_BEGUN)
  const [isLeaving, setLeaving] = useState(false)
  const running = useRef<AbortController>(undefined)
  useBlocker({
    shouldBlockFn: () => {
      setLeaving(running.current !== undefined)
      return running.current !== undefined
    },
    enableBeforeUnload: () => running.current !== undefined,
  })
  useEffect(() => () => running.current?.abort(), [])
  // After a reload, the form says that the import was interrupted.
  const setBegun = (begun: boolean) => form.setValues({ begun } as Partial<T>)
  return {
    isPending: load.isPending,
    progress,
    result: load.data,
    isLeaving,
    setLeaving,
    begin: (input) => {
      const controller = new AbortController()
      const { signal } = controller
      running.current = controller
      setProgress(NOT_BEGUN)
      setLeaving(false)
      setBegun(true)
      load.mutate({ ...input, signal, onProgress: setProgress } as I, {
        onSettled: () => {
          running.current = undefined
        },
        onSuccess: form.deleteDraft,
        onError: (error) => {
          const errors = signal.aborted ? { form: cancelled } : errorsOf(error)
          setBegun(errors.form !== undefined && !storedNothing(error))
          form.showErrors(errors)
        },
      })
    },
    reset: () => {
      setBegun(false)
      load.reset()
    },
    cancel: () => running.current?.abort(),
    cancelAndClose: () => {
      running.current?.abort()
      running.current = undefined
      announce('The import was cancelled.')
      close()
    },
  }
}

const NOT_BEGUN: ImportProgress = { fraction: 0, text: '' }
