import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import {
  createContext,
  lazy,
  type PropsWithChildren,
  useCallback,
  useContext,
  useRef,
  useState,
} from 'react'
import { announce } from '../../ui/announce.tsx'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import type { CollectionRef } from '../use-data-location.ts'

const ExportProgress = lazy(async () => ({
  default: (await import('./export-progress.tsx')).ExportProgress,
}))

export interface ExportRequest {
  readonly collectionRef: CollectionRef
  /** Saves the documents as a file. Resolves with its name. */
  readonly run: (progress: ExportControl) => Promise<string>
}

export interface ExportControl {
  readonly signal: AbortSignal
  /** Called with the number of bytes that have arrived. */
  readonly onProgress: (bytes: number) => void
}

/** An export that runs or has failed. */
interface ShownExport {
  readonly id: number
  readonly collectionRef: CollectionRef
  readonly controller: AbortController
  readonly received: number
  /** Why the export failed; null while it runs. */
  readonly error: Error | null
}

const StartExport = createContext<(request: ExportRequest) => void>(() => {})

/** Returns a function that starts an export. It continues on other pages of the console. */
export const useStartExport = () => useContext(StartExport)

/** Runs exports of documents, and shows their progress and failures on every page. */
export function DocumentExports({ children }: PropsWithChildren) {
  const [shown, setShown] = useState<readonly ShownExport[]>([])
  const lastId = useRef(0)
  const change = (id: number, next: Partial<ShownExport>) =>
    setShown((all) => all.map((one) => (one.id === id ? { ...one, ...next } : one)))
  const close = (id: number) => setShown((all) => all.filter((one) => one.id !== id))
  const { mutate } = useMutation({
    mutationFn: ({ id, run, signal }: ExportRequest & { id: number; signal: AbortSignal }) =>
      run({ signal, onProgress: (received) => change(id, { received }) }),
    onSuccess: (name, { id }) => {
      announce(`${name} was saved.`)
      close(id)
    },
    onError: (error, { id }) => change(id, { error }),
  })
  const start = useCallback(
    (request: ExportRequest) => {
      const { collectionRef } = request
      const controller = new AbortController()
      const id = ++lastId.current
      setShown((all) => [...all, { id, collectionRef, controller, received: 0, error: null }])
      mutate({ ...request, id, signal: controller.signal })
    },
    [mutate],
  )
  useBlocker({
    shouldBlockFn: () => false,
    enableBeforeUnload: () => shown.some(({ error }) => error === null),
  })
  return (
    <StartExport value={start}>
      {children}
      {shown.map(({ id, controller, ...one }) => (
        <LazyBoundary key={id}>
          <ExportProgress
            {...one}
            onCancel={() => {
              controller.abort()
              close(id)
            }}
          />
        </LazyBoundary>
      ))}
    </StartExport>
  )
}
