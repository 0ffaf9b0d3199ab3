import { useKeys } from './use-keys.ts'

/** Text fields, in which the shortcut undoes typing. */
const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]'

/** The shortcut, as it is shown at an Undo button. */
export const UNDO_TIP = 'Ctrl Z or ⌘ Z'

/**
 * Binds Ctrl+Z or ⌘Z. Of several changes that can be undone, it undoes the newest.
 *
 * @param undo undefined while nothing can be undone.
 * @param change identifies the change. Default: the one for which the component was mounted.
 */
export function useUndoKey(undo: (() => void) | undefined, change?: unknown): void {
  useKeys(
    'anywhere',
    {
      undo: ({ target }) => {
        if (undo === undefined || (target instanceof HTMLElement && target.matches(FIELD)))
          return false
        undo()
        return true
      },
    },
    change,
  )
}
