/**
 * Writes a parameter into the address bar at once, past the router, which is told by whoever calls
 * this when there is time: a page that is loaded anew or left in between has it. Empty takes it out.
 */
export function showInAddress(name: string, text: string): void {
  const url = new URL(location.href)
  if (text === '') url.searchParams.delete(name)
  else url.searchParams.set(name, text)
  try {
    // The router has put a function of its own over that of `history`, by which it would be told.
    History.prototype.replaceState.call(history, history.state, '', url)
  } catch {
    // Safari refuses a hundred writes in ten seconds. The router writes the same a moment later.
  }
}
