// The sign-in page is a separate document without React, so that it loads without the console.

import '@fontsource-variable/geist/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import '../../ui/theme/tokens.css'
import '../../ui/theme/base.css'
import { LOCAL_PROVIDER } from '../../../server/contract/access/principal.ts'
import type { ProviderInfo } from '../../../server/contract/access/session.ts'
import { api, readJson } from '../../api/client.ts'
import { readReturnTo } from '../../api/session/return-to.ts'
import centered from '../../ui/layout/centered-page.module.css'
import classes from './sign-in.module.css'

const page = new URL(location.href)
const returnTo = readReturnTo(page)

/** Delay in milliseconds before the loading message appears. */
const LOADING_DELAY_MS = 200

const methods = element('div', { className: classes.providers ?? '' })

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...content)
  return made
}

/**
 * Returns a form for one provider. A form, because the browser must follow the server's redirect.
 */
function providerForm({ name, label, start }: ProviderInfo, primary: boolean): HTMLElement {
  const local = name === LOCAL_PROVIDER
  const button = element(
    'button',
    { className: `${classes.button} ${primary ? classes.primary : ''}` },
    `Sign in with ${local ? 'the operator key' : label}`,
  )
  const field = local && primary ? keyField() : undefined
  const form = element(
    'form',
    { method: 'post', action: start, className: classes.provider ?? '' },
    element('input', { type: 'hidden', name: 'returnTo', value: returnTo }),
    ...(field === undefined ? [] : [field.label, field.name, field.key]),
    button,
  )
  form.addEventListener('submit', (event) => {
    if (field !== undefined) {
      event.preventDefault()
      void submitKey(form, start)
    }
    // Prevent a second submit. Restoring the page from the history resets the form.
    button.textContent = 'Signing in…'
    button.setAttribute('aria-disabled', 'true')
    form.addEventListener('submit', (again) => again.preventDefault())
  })
  if (local) {
    form.append(
      element(
        'p',
        { className: classes.note ?? '' },
        'The key is stored in ',
        element('code', {}, 'operator.key'),
        ' in the data folder, unless the server gets it from ',
        element('code', {}, 'GATEHOUSE_OPERATOR_KEY'),
        '. ',
        element('code', {}, 'gatehouse operator-key'),
        ' (in a checkout: ',
        element('code', {}, 'node bin/gatehouse.js operator-key'),
        ') prints the stored key.',
      ),
    )
  }
  return form
}

/** The field of the key, on this page if there is no other way to sign in. */
function keyField() {
  const key = element('input', {
    id: 'key',
    name: 'key',
    type: 'password',
    autocomplete: 'current-password',
    autocapitalize: 'none',
    spellcheck: false,
    required: true,
    className: classes.field ?? '',
  })
  const name = element('input', {
    name: 'username',
    value: 'operator',
    autocomplete: 'username',
    hidden: true,
  })
  return { key, name, label: element('label', { htmlFor: 'key' }, 'Operator key') }
}

/**
 * Begins a sign-in, and submits the key to the page that it leads to. If there is none, because of a
 * limit for example, follows the form, which shows why.
 */
async function submitKey(form: HTMLFormElement, start: string): Promise<void> {
  const body = new URLSearchParams({ returnTo })
  const { pathname } = await fetch(start, { method: 'POST', body })
    .then(({ url }) => new URL(url))
    .catch(() => location)
  form.action = pathname.startsWith('/_idp/key/') ? pathname : start
  form.submit()
}

function show(providers: readonly ProviderInfo[]): void {
  const others = providers.filter(({ name }) => name !== LOCAL_PROVIDER)
  const local = providers.filter(({ name }) => name === LOCAL_PROVIDER)
  if (providers.length === 0) {
    methods.replaceChildren(
      element(
        'p',
        { className: classes.note ?? '' },
        'No sign-in method is configured. Contact the operator of this server.',
      ),
    )
    return
  }
  methods.replaceChildren(
    ...others.map((provider) => providerForm(provider, others.length === 1)),
    ...(others.length > 0 && local.length > 0
      ? [element('p', { className: classes.divider ?? '' }, 'or')]
      : []),
    ...local.map((provider) => providerForm(provider, others.length === 0)),
  )
  methods.querySelector<HTMLInputElement>('#key')?.focus()
}

function showFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : ''
  const again = element('button', { type: 'button', className: classes.button ?? '' }, 'Try again')
  again.addEventListener('click', load)
  methods.replaceChildren(
    element(
      'p',
      { className: classes.error ?? '', role: 'alert' },
      `The sign-in methods could not be loaded. ${message}`,
    ),
    again,
  )
}

const readSession = () => readJson(api._api.session.$get()).catch(() => null)

async function load(): Promise<void> {
  const loading = setTimeout(() => {
    methods.replaceChildren(
      element('p', { className: classes.note ?? '', role: 'status' }, 'Loading…'),
    )
  }, LOADING_DELAY_MS)
  try {
    const [session, providers] = await Promise.all([
      readSession(),
      readJson(api._api.provider.$get()),
    ])
    // Already signed in, such as in another tab.
    if (session !== null) location.replace(returnTo)
    else show(providers)
  } catch (error) {
    showFailure(error)
  } finally {
    clearTimeout(loading)
  }
}

const logo = element('img', { src: '/_console/favicon.svg', alt: '', width: 24, height: 24 })
const box = element(
  'div',
  { className: centered.box ?? '' },
  element('div', { className: centered.brand ?? '' }, logo, element('h1', {}, 'Gatehouse')),
  element(
    'div',
    { className: centered.text ?? '' },
    ...(page.searchParams.has('signedOut')
      ? [
          element(
            'p',
            { role: 'status', className: classes.signedOut ?? '' },
            'You are signed out.',
          ),
        ]
      : []),
    element(
      'p',
      {},
      'Control the network endpoints of this server, and the databases that each of them serves, while the server runs.',
    ),
  ),
  ...(isSecureContext
    ? []
    : [
        element(
          'p',
          { role: 'note', className: classes.warning ?? '' },
          'This connection is not encrypted. Others on the network can read what you enter, and a program on the host of this server can sign you in as another person. Ask the operator of this server for an https address.',
        ),
      ]),
  methods,
)
const main = document.getElementById('sign-in')
main?.classList.add(centered.page ?? '')
main?.append(box)

// The person may have signed in in another tab.
addEventListener('focus', async () => {
  const session = await readSession()
  if (session !== null) location.replace(returnTo)
})
// A page restored from the back/forward cache has disabled buttons.
addEventListener('pageshow', (event) => {
  if (event.persisted) void load()
})
void load()
