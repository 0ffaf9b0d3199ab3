import { STATUS_CODES } from 'node:http'
import { html } from 'hono/html'

/** A page that says what failed, for a person whose browser was sent there. Needs no style sheet. */
export const failurePage = (status: number, message: string) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${STATUS_CODES[status]} · Gatehouse</title>
  </head>
  <body>
    <h1>${STATUS_CODES[status]}</h1>
    <p>${message}</p>
    <p><a href="/">Back to the start</a></p>
  </body>
</html>
`
