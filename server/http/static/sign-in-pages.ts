import { STATUS_CODES } from 'node:http'
import { html } from 'hono/html'
import { PAGE_STYLE, renderPage } from '../output/page.ts'
import { fontFaces, type PageFonts } from '../output/page-fonts.ts'

/**
 * Returns the policy of the sign-in pages: no scripts, only styles and fonts of this server. It
 * omits `form-action` if a form leads to another provider, because Chromium applies that to every
 * redirect after the POST.
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

/** Path of the style sheet of these pages. */
export const STYLE_PATH = '/_oauth2/page.css'

/** Returns the style sheet of these pages, with the console's fonts if they are given. */
export const pageStyle = (fonts: PageFonts | undefined): string =>
  fonts === undefined ? PAGE_STYLE : fontFaces(fonts) + PAGE_STYLE

const LINKED_STYLE = html`<link rel="stylesheet" href="${STYLE_PATH}">`

/** A failed sign-in, as its page shows it. */
export interface FailedSignIn {
  readonly status: number
  /** What happened. Text from third parties is already truncated; it is escaped here. */
  readonly message: string
  /** URL that a form POSTs to in order to start again; undefined if that would not help. */
  readonly start: string | undefined
}

/**
 * Returns the page of a failed sign-in: what happened, what to do next, and a button to start
 * again.
 */
export const failedSignInPage = ({ status, message, start }: FailedSignIn) =>
  renderPage(
    'Sign-in failed',
    LINKED_STYLE,
    html`<h1>You are not signed in</h1>
    <p role="alert">${message}</p>
    ${
      start === undefined
        ? html`<p>Go back, or send the message above to the operator of this server.</p>`
        : html`<p>Start again. If the problem persists, send the message above to the operator of this server.</p>
    <form method="post" action="${start}"><button>Sign in</button></form>`
    }
    <p class="hint"><a href="/_console/sign-in">Back to sign-in</a> · ${status} ${STATUS_CODES[status]}</p>`,
  )

/** Returns the page that ends a test of a provider. */
export const testPage = ({ passed, message }: { passed: boolean; message: string }) =>
  renderPage(
    'Sign-in test',
    LINKED_STYLE,
    html`<h1>${passed ? 'The test passed' : 'The test failed'}</h1>
    ${passed ? html`<p>${message}</p>` : html`<p role="alert">${message}</p>`}
    <p class="hint">This was a test, so you are not signed in by it. Close this tab and go back to the console, which shows each step.</p>`,
  )

/** The page of an invitation, in one of its three states. */
export interface InvitationPage {
  /** Why it cannot be accepted. */
  readonly ended?: string
  /** The username of the person who has opened it and has access already. */
  readonly signedIn?: string
  readonly invitation?: {
    readonly role: string
    readonly databases: readonly string[] | null
    readonly creator: string
    readonly expires: string
    /** The provider to sign in with, and the URL that the form POSTs to. */
    readonly label: string
    readonly action: string
    readonly token: string
  }
}

export function invitationPage({ ended, signedIn, invitation }: InvitationPage) {
  if (invitation === undefined) {
    const [title, body] =
      signedIn === undefined
        ? [
            'This invitation has ended',
            html`<p role="alert">${ended}</p><p><a href="/_console/sign-in">Go to sign-in</a></p>`,
          ]
        : [
            'You already have access',
            html`<p>You are signed in as <code>${signedIn}</code>. An invitation is for a person without access, so it was not used. To change your own access, ask an admin.</p>
    <p><a href="/_console/">Go to the console</a></p>`,
          ]
    return renderPage(title, LINKED_STYLE, html`<h1>${title}</h1>${body}`)
  }
  const { role, databases, creator, expires, label, action, token } = invitation
  const names = databases?.slice(0, SHOWN_DATABASES).join(', ')
  const rest = (databases?.length ?? 0) - SHOWN_DATABASES
  const scope =
    names === undefined
      ? ''
      : html` of ${databases?.length === 1 ? 'the database' : 'the databases'} <code>${names}</code>${rest > 0 ? ` and ${rest} more` : ''}`
  return renderPage(
    'Invitation',
    LINKED_STYLE,
    html`<h1>You are invited to Gatehouse</h1>
    <p><code>${creator}</code> invites you to this server, as ${role}${scope}. Sign in to accept.</p>
    <form method="post" action="${action}">
      <input type="hidden" name="invitation" value="${token}">
      <input type="hidden" name="returnTo" value="/_console/">
      <button>Sign in with ${label}</button>
    </form>
    <p class="hint">The first person who signs in here gets this access. Expires on ${expires.slice(0, 10)}.</p>`,
  )
}

/** Number of databases that the page of an invitation names. */
const SHOWN_DATABASES = 10

export interface KeyPage {
  /** The URL that the form POSTs to. */
  readonly action: string
  /** Why the submitted key was rejected. */
  readonly error: string | undefined
}

/** Returns the page of the local provider, which asks for the operator key. */
export const keyPage = ({ action, error }: KeyPage) =>
  renderPage(
    'Operator key',
    LINKED_STYLE,
    html`<h1>Sign in with the operator key</h1>
    ${error === undefined ? '' : html`<p role="alert" id="error">${error}</p>`}
    <form method="post" action="${action}">
      <input name="username" value="operator" autocomplete="username" hidden>
      <label for="key">Operator key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false"
        autocapitalize="none" aria-describedby="${error === undefined ? 'where' : 'error where'}"
        required autofocus>
      <button>Sign in</button>
    </form>
    <p id="where" class="hint">On the machine that runs this server, <code>gatehouse operator-key</code>
      (in a checkout: <code>node bin/gatehouse.js operator-key</code>) prints it. It is in the file <code>operator.key</code> of the data folder, or in the environment
      (<code>GATEHOUSE_OPERATOR_KEY</code>).</p>
    <p><a href="/_console/sign-in">Back to sign-in</a></p>`,
  )
