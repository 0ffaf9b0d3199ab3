import { type AnyRouter, type NavigateOptions, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { DraftForm } from '../../shared/forms/use-draft-form.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { useLatest } from '../../ui/use-latest.ts'

/**
 * Keeps the draft of a form in a panel that is left with changes, such as for another document, and
 * offers to continue. Returns a function that discards it.
 */
export function useKeptDraft(
  form: Pick<DraftForm<object>, 'keepDraft' | 'deleteDraft'>,
  isLeft: boolean,
  offer: {
    readonly text: string
    readonly name?: string
    readonly continueAt: NavigateOptions<AnyRouter>
  },
): () => void {
  const { history } = useRouter()
  const isDiscarded = useRef(false)
  useEffect(() => {
    if (isLeft && !isDiscarded.current) form.keepDraft()
  })
  const onClose = useLatest(() => {
    if (!isLeft || isDiscarded.current) return
    const { continueAt, ...toast } = offer
    showToast({ ...toast, actions: [{ label: 'Continue editing', to: continueAt }] })
  })
  useEffect(() => {
    const opened = history.location.href.split('#', 1)[0]
    return () => {
      if (history.location.href.split('#', 1)[0] !== opened) onClose.current()
    }
  }, [history, onClose])
  return () => {
    isDiscarded.current = true
    form.deleteDraft()
  }
}
