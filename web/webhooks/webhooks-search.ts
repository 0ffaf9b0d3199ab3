/** URL search of the Webhooks page: the name of a webhook, by what is open. */
export interface WebhooksSearch {
  readonly open?: string
  readonly edit?: string
  readonly rotate?: string
  readonly remove?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
export function readWebhooksSearch(search: Record<string, unknown>): WebhooksSearch {
  const text = (key: keyof WebhooksSearch) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return { ...text('open'), ...text('edit'), ...text('rotate'), ...text('remove') }
}
