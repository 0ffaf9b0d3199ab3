/**
 * Ref of a button that its own action may remove. If it is removed while it has the focus, the focus
 * moves to the closest remaining ancestor with `tabIndex={-1}`, but not behind an open modal dialog;
 * otherwise to that dialog or `main`.
 */
export function keepFocus(button: HTMLElement | null) {
  return () => {
    if (button === null || document.activeElement !== button) return
    const ancestors = ancestorsOf(button)
    // Called before the removal, which moves the focus to the body.
    setTimeout(() => {
      if (document.activeElement !== document.body) return
      const modal = [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)
      const ancestor = ancestors.find((each) => each.isConnected && modal?.contains(each) !== false)
      const target = ancestor ?? modal ?? document.querySelector('main')
      target?.focus({ preventScroll: true })
    })
  }
}

/** Returns the ancestors that scripts can focus, closest first. */
function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const ancestor = element.parentElement?.closest<HTMLElement>('[tabindex="-1"]')
  return ancestor == null ? [] : [ancestor, ...ancestorsOf(ancestor)]
}
