import { STATUS_CODES } from 'node:http'
import { html } from 'hono/html'
import { type Html, INLINE_STYLE_SOURCE, inlineStyle, renderPage } from './page.ts'

/** The Content-Security-Policy of {@link failurePage}: only its inline style. */
export const FAILURE_PAGE_POLICY = `default-src 'none'; style-src ${INLINE_STYLE_SOURCE}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** Returns a page that says what failed and what to do next. It loads no other resource. */
export function failurePage(status: number, message: string): Html {
  const { title, next } = adviceFor(status)
  return renderPage(
    title,
    inlineStyle,
    html`<h1>${title}</h1>
    <p role="alert">${message}</p>
    ${next}
    <p class="hint">${status} ${STATUS_CODES[status]}</p>`,
  )
}

interface Advice {
  readonly title: string
  readonly next: Html
}

const START = html`<a href="/">Go to the start page</a>`
/** An empty reference resolves to the page itself (RFC 3986 §4.4). */
const RETRY_LINK = html`<a href="">Try again</a>`

function adviceFor(status: number): Advice {
  const advice = ADVICE[status]
  if (advice !== undefined) return advice
  return status < 500
    ? { title: 'This request was rejected', next: html`<p>${START}</p>` }
    : { title: 'Something went wrong', next: RETRY_ADVICE }
}

const RETRY_ADVICE = html`<p>${RETRY_LINK} in a moment. If the problem persists, send the message above to the operator of this server.</p>`

const ADVICE: Readonly<Record<number, Advice>> = {
  401: {
    title: 'Sign-in required',
    next: html`<p><a href="/_console/sign-in">Sign in</a>, then reload this page.</p>`,
  },
  403: {
    title: 'You don’t have access to this page',
    next: html`<p>Ask an admin of this server for access. ${START}</p>`,
  },
  404: {
    title: 'Page not found',
    next: html`<p>Check the address for typos. ${START}</p>`,
  },
  421: {
    title: 'This server is not available at this host name',
    next: html`<p>Use the address that you got from the operator of this server.</p>`,
  },
  429: { title: 'Too many requests', next: html`<p>Wait a minute. ${RETRY_LINK}</p>` },
  503: { title: 'Gatehouse is unavailable', next: RETRY_ADVICE },
}
