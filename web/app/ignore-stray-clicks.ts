/** What a click acts on, instead of the icon or text in it. */
const TARGETS = 'a, button, input, select, textarea, label, summary, [role="option"], [data-row]'

/**
 * Ignores the second click of a double-click if it is not on the same control as the first one,
 * which has removed or covered it. The person did not aim at what is there now, such as the button
 * of the next row.
 */
export function ignoreStrayClicks(): void {
  let last: Element | undefined
  const onClick = (event: MouseEvent) => {
    const target = targetOf(event)
    const isStray = event.detail > 1 && target !== last
    last = target
    if (!isStray) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  document.addEventListener('click', onClick, { capture: true })
}

function targetOf({ target }: MouseEvent): Element | undefined {
  if (!(target instanceof Element)) return undefined
  const control = target.closest(TARGETS) ?? target
  // A click on a label is followed by one on its input.
  return control instanceof HTMLLabelElement ? (control.control ?? control) : control
}
