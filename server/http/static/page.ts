import { STATUS_CODES } from 'node:http'
import { html } from 'hono/html'
import { fontFaces, type PageFonts } from './page-fonts.ts'

type Html = ReturnType<typeof html>

/**
 * The policy of the pages of the sign-in: no script, no style and no font but ours. Where a form leads to another
 * provider there is no `form-action`: Chromium applies it to every redirect after the POST.
 */
export const signInPolicy = ({ leavesOrigin }: { readonly leavesOrigin: boolean }): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ...(leavesOrigin ? [] : ["form-action 'self'"]),
  ].join('; ')

/** Where the style sheet of these pages is. */
export const STYLE_PATH = '/_oauth2/page.css'

/** The style sheet of these pages: the colours, measures and, where they are there, fonts of the console. */
export const pageStyle = (fonts: PageFonts | undefined): string =>
  fonts === undefined ? STYLE : fontFaces(fonts) + STYLE

const STYLE = `:root {
  color-scheme: light dark;
  --page: light-dark(#fbfbfc, #0f1115);
  --surface: light-dark(#ffffff, #15181e);
  --text: light-dark(#15181e, #eceef2);
  --dim: light-dark(#565d6a, #a8afbc);
  --border: light-dark(#7b828f, #6f7887);
  --primary: light-dark(#2457d6, #3767e6);
  --link: light-dark(#2457d6, #8fb0ff);
  --failed: light-dark(#b3261e, #ff8a80);
  --tint: light-dark(#fdecea, #361816);
  background: var(--page);
  color: var(--text);
  font: 14px/20px "Geist Variable", system-ui, sans-serif;
}
body {
  display: grid;
  min-height: 100vh;
  margin: 0;
  padding: 24px;
  box-sizing: border-box;
  place-items: center;
}
main {
  width: 100%;
  max-width: 400px;
  /* A little above the middle, where the eye looks first. */
  padding-bottom: 12vh;
}
.brand {
  display: flex;
  align-items: center;
  gap: 10px;
  margin: 0 0 24px;
  color: var(--dim);
  font-weight: 600;
}
.brand rect {
  fill: var(--primary);
}
h1 {
  margin: 0 0 16px;
  font-size: 20px;
  font-weight: 600;
  line-height: 28px;
}
p {
  margin: 16px 0;
}
.hint {
  color: var(--dim);
}
a {
  color: var(--link);
}
label {
  display: block;
  margin: 16px 0 4px;
  font-size: 13px;
  font-weight: 500;
}
input,
button {
  box-sizing: border-box;
  width: 100%;
  height: 40px;
  padding: 0 12px;
  border: 1px solid var(--border);
  border-radius: 6px;
  background: var(--surface);
  color: inherit;
  font: inherit;
}
@media (pointer: coarse) {
  input,
  button {
    height: 44px;
  }
}
button {
  margin-top: 16px;
  border-color: transparent;
  background: var(--primary);
  color: #ffffff;
  font-weight: 500;
  cursor: pointer;
}
:focus-visible {
  outline: 2px solid var(--link);
  outline-offset: 2px;
}
code {
  color: var(--text);
  font: 12px/20px "Geist Mono Variable", ui-monospace, monospace;
  overflow-wrap: anywhere;
}
[role='alert'] {
  padding: 8px 12px;
  border-radius: 6px;
  background: var(--tint);
  color: var(--failed);
}
`

/** The mark of Gatehouse, as in `web/ui/logo.tsx`. */
const MARK = html`<svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><rect width="16" height="16" rx="3.5"/><path d="M4 13V7.5a4 4 0 0 1 8 0V13M8 6.8V13M4 10h8" fill="none" stroke="#ffffff" stroke-width="1.4" stroke-linecap="round"/></svg>`

const page = (title: string, body: Html) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Gatehouse</title>
    <link rel="stylesheet" href="${STYLE_PATH}">
  </head>
  <body>
    <main>
      <p class="brand">${MARK}Gatehouse</p>
      ${body}
    </main>
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
    <p class="hint"><a href="/_console/sign-in">Other ways to sign in</a> · ${status} ${STATUS_CODES[status]}</p>`,
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
      <input name="username" value="operator" autocomplete="username" hidden>
      <label for="key">Operator key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false"
        autocapitalize="none" aria-describedby="${fault === undefined ? 'where' : 'fault where'}"
        required autofocus>
      <button>Sign in</button>
    </form>
    <p id="where" class="hint">On the machine that runs this server, <code>gatehouse operator-key</code> prints it.
      It is in the file <code>operator.key</code> of the data folder, or in the environment
      (<code>GATEHOUSE_OPERATOR_KEY</code>).</p>
    <p><a href="/_console/sign-in">Other ways to sign in</a></p>`,
  )
