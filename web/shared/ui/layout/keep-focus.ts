/**
 * Ref of a button that its own action may remove. If it is removed while it has the focus, the focus
 * moves to the closest remaining ancestor with `tabIndex={-1}`, or to the open dialog or `main`.
 */
export function keepFocus(button: HTMLElement | null) {
  return () => {
    if (button === null || document.activeElement !== button) return
    const ancestors = ancestorsOf(button)
    // Called before the removal, which moves the focus to the body.
    setTimeout(() => {
      if (document.activeElement !== document.body) return
      const ancestor = ancestors.find(({ isConnected }) => isConnected)
      const page = [...document.querySelectorAll<HTMLElement>('main, [aria-modal="true"]')]
      const target = ancestor ?? page.at(-1)
      target?.focus({ preventScroll: true })
    })
  }
}

/** Returns the ancestors that scripts can focus, closest first. */
function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const ancestor = element.parentElement?.closest<HTMLElement>('[tabindex="-1"]')
  return ancestor == null ? [] : [ancestor, ...ancestorsOf(ancestor)]
}
