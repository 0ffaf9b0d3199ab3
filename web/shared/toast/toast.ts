import type { AnyRouter, NavigateOptions } from '@tanstack/react-router'
import { announce } from '../../ui/announce.tsx'
import { createStore, useStore } from '../../ui/store.ts'

/** How long a toast is shown, ms. Hovering or focusing it pauses the countdown. */
export const TOAST_MS = 10_000

/** Minimum time that remains after a pause, ms. */
export const MIN_AFTER_PAUSE_MS = 3_000

/** A part of a change that failed. */
export interface ToastFailure {
  /** The address, name or id, unless the text of the toast has it. */
  readonly name?: string
  readonly reason: string
}

/** A link beside the text. */
export type ToastAction = { readonly label: string } & (
  | { readonly to: NavigateOptions<AnyRouter> }
  /** The URL of another console. */
  | { readonly href: string }
)

export interface ToastOptions {
  /** The change, without a full stop: "tcp://127.0.0.1:8530 added". */
  readonly text: string
  /** The address, name or id within the text, shown in monospace. */
  readonly name?: string
  readonly actions?: readonly ToastAction[]
  /** Undoes the change, and resolves with the toast that reports it. */
  readonly undo?: () => Promise<ToastOptions>
  /** Default: "Undo". */
  readonly undoLabel?: string
  /** With failures, the toast stays until it is closed. */
  readonly failures?: readonly ToastFailure[]
  /** Whether the toast stays without failures too. */
  readonly stays?: boolean
}

export interface Toast extends ToastOptions {
  readonly id: number
  readonly isUndoing: boolean
}

const current = createStore<Toast | undefined>(undefined)
let lastId = 0
let timer: ReturnType<typeof setTimeout> | undefined
let left = 0
let startedAt = 0

export const getToast = current.get
export const useToast = (): Toast | undefined => useStore(current)

/**
 * Shows that a change was made or failed, in place of an earlier toast, and announces it. The toast
 * outlives dialogs and pages. Ctrl/⌘ Z does what its Undo does.
 */
export function showToast(options: ToastOptions): void {
  stopCountdown()
  current.set({ ...options, id: ++lastId, isUndoing: false })
  announce(options.text)
  if (isLimited()) startCountdown(TOAST_MS)
}

export function closeToast(): void {
  stopCountdown()
  current.set(undefined)
}

/** Stops the countdown while the toast is hovered or focused. */
export function pauseToast(): void {
  if (timer === undefined) return
  stopCountdown()
  left -= Date.now() - startedAt
}

export function resumeToast(): void {
  if (timer === undefined && isLimited()) startCountdown(Math.max(left, MIN_AFTER_PAUSE_MS))
}

/** Undoes the change of the toast, and shows the outcome. */
export async function undoToast(): Promise<void> {
  const toast = current.get()
  if (toast?.undo === undefined || toast.isUndoing) return
  stopCountdown()
  current.set({ ...toast, isUndoing: true })
  const outcome = await toast.undo().catch(
    (error: Error): ToastOptions => ({
      text: 'The change could not be undone',
      failures: [{ reason: error.message }],
    }),
  )
  // Another change may have been made since.
  const hasFailed = (outcome.failures ?? []).length > 0
  if (current.get()?.id === toast.id || hasFailed) showToast(outcome)
  else announce(outcome.text)
}

function isLimited(): boolean {
  const now = current.get()
  return (
    now !== undefined && !now.isUndoing && now.stays !== true && (now.failures ?? []).length === 0
  )
}

function startCountdown(time: number): void {
  left = time
  startedAt = Date.now()
  timer = setTimeout(closeToast, time)
}

function stopCountdown(): void {
  clearTimeout(timer)
  timer = undefined
}
