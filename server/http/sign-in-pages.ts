import { STATUS_CODES } from 'node:http'
import { html } from 'hono/html'

type Html = ReturnType<typeof html>

/**
 * The policy of the pages of the sign-in: no script, no style but ours. Where a form leads to another
 * provider there is no `form-action`: Chromium applies it to every redirect after the POST.
 */
export const signInPolicy = ({ leavesOrigin }: { readonly leavesOrigin: boolean }): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ...(leavesOrigin ? [] : ["form-action 'self'"]),
  ].join('; ')

/** Where the style sheet of these pages is. */
export const STYLE_PATH = '/_oauth2/page.css'

/** The style sheet of these pages. */
export const pageStyle = `:root {
  color-scheme: light dark;
  font: 16px/1.5 system-ui, sans-serif;
}
body {
  max-width: 26rem;
  margin: 15vh auto 0;
  padding: 0 1.5rem;
}
h1 {
  font-size: 1.375rem;
  line-height: 1.25;
}
label {
  display: block;
  margin: 1.5rem 0 0.375rem;
  font-weight: 600;
}
input,
button {
  box-sizing: border-box;
  width: 100%;
  min-height: 2.75rem;
  padding: 0 0.875rem;
  border: 1px solid GrayText;
  border-radius: 0.375rem;
  font: inherit;
}
button {
  margin-top: 1rem;
  border-color: ButtonText;
  font-weight: 600;
  cursor: pointer;
}
code {
  overflow-wrap: anywhere;
}
[role='alert'] {
  padding-left: 0.75rem;
  border-left: 3px solid #d6336c;
}
`

const page = (title: string, body: Html) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Gatehouse</title>
    <link rel="stylesheet" href="${STYLE_PATH}">
  </head>
  <body>
    <main>${body}</main>
  </body>
</html>
`

/** What a page says of a sign-in that failed. */
export interface FailedSignIn {
  readonly status: number
  /** What happened. The wording of others in it is cut and is escaped here. */
  readonly message: string
  /** Where a form POSTs to, to begin again; undefined: that would not help. */
  readonly start: string | undefined
}

/** The page of a sign-in that failed: what happened, what to do, and a button that does it. */
export const failedSignInPage = ({ status, message, start }: FailedSignIn) =>
  page(
    'Sign-in failed',
    html`<h1>You are not signed in</h1>
    <p role="alert">${message}</p>
    ${
      start === undefined
        ? html`<p>Go back, or tell the operator of this server what it says above.</p>`
        : html`<p>Start again. If this page returns, tell the operator of this server what it says above.</p>
    <form method="post" action="${start}"><button>Sign in</button></form>`
    }
    <p><a href="/_console/sign-in">Other ways to sign in</a> · ${status} ${STATUS_CODES[status]}</p>`,
  )

/** What the page of the local provider shows. */
export interface KeyPage {
  /** Where the form POSTs to. */
  readonly action: string
  /** Why the key is asked for again. */
  readonly fault: string | undefined
}

/** The page of the local provider: asks for the operator key. */
export const keyPage = ({ action, fault }: KeyPage) =>
  page(
    'Operator key',
    html`<h1>Sign in with the operator key</h1>
    ${fault === undefined ? '' : html`<p role="alert" id="fault">${fault}</p>`}
    <form method="post" action="${action}">
      <label for="key">Operator key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false"
        autocapitalize="none" aria-describedby="${fault === undefined ? 'where' : 'fault where'}"
        required autofocus>
      <button>Sign in</button>
    </form>
    <p id="where">On the machine that runs this server, <code>gatehouse operator-key</code> prints it.
      It is in the file <code>operator.key</code> of the data folder, or in the environment
      (<code>GATEHOUSE_OPERATOR_KEY</code>).</p>
    <p><a href="/_console/sign-in">Other ways to sign in</a></p>`,
  )
