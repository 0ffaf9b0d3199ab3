/**
 * Ref of a button that its own action may remove. If it is removed while it has the focus, the focus
 * moves to the closest ancestor with `tabIndex={-1}`, or to `main` if that is removed too.
 */
export function keepFocus(button: HTMLElement | null) {
  return () => {
    if (button === null || document.activeElement !== button) return
    const ancestor = button.parentElement?.closest<HTMLElement>('[tabindex="-1"]')
    // Called before the removal, which moves the focus to the body.
    setTimeout(() => {
      if (document.activeElement !== document.body) return
      const target = ancestor?.isConnected ? ancestor : document.querySelector('main')
      target?.focus({ preventScroll: true })
    })
  }
}
