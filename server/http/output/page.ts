import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** The style sheet of the pages that the server renders. */
export const PAGE_STYLE = `:root {
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
  /* A little above the middle, where a reader looks first. */
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

/** The Gatehouse logo, as in `web/ui/layout/logo.tsx`. */
const LOGO = html`<svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><rect width="16" height="16" rx="3.5"/><path d="M4 13V7.5a4 4 0 0 1 8 0V13M8 6.8V13M4 10h8" fill="none" stroke="#ffffff" stroke-width="1.4" stroke-linecap="round"/></svg>`

/** A source of `style-src` (CSP Level 3 §2.3.1) that allows {@link inlineStyle}. */
export const INLINE_STYLE_SOURCE = `'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`

/** A style element with {@link PAGE_STYLE}, for pages that must load no other resource. */
export const inlineStyle = html`<style>${raw(PAGE_STYLE)}</style>`

/** Returns a page in the style of the console. `style` is its style element or link. */
export const renderPage = (title: string, style: Html, body: Html) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Gatehouse</title>
    ${style}
  </head>
  <body>
    <main>
      <p class="brand">${LOGO}Gatehouse</p>
      ${body}
    </main>
  </body>
</html>
`
