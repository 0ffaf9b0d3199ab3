/** An example of docs/http-api.md, and the response below it. */
export interface Example {
  readonly heading: string
  readonly command: string
  /** The language of the response's block; undefined if the page shows no response. */
  readonly kind: string | undefined
  readonly response: string
}

/** Returns the examples of a part of the page, in order. */
export function examplesOf(text: string): Example[] {
  const block =
    /^```(?:sh\n([\s\S]*?)\n```(?:\n\n```(json|http|)\n([\s\S]*?)\n```)?)$|^#{3,4} (.*)$/gm
  const found: Example[] = []
  let heading = ''
  for (const [, command, kind, response = '', title] of text.matchAll(block)) {
    if (title !== undefined) heading = title.replaceAll('`', '')
    else if (command !== undefined) found.push({ heading, command, kind, response })
  }
  return found
}

/** A request of an example. */
export interface ExampleRequest {
  readonly method: string
  /** The path with its query string. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

/** Options of curl that take a value. */
const VALUED = new Set(['-H', '-X', '-d', '--data', '--data-binary', '-w', '--max-time'])

/** Returns the requests of a command with curl: one for each URL. Variables must be replaced. */
export function requestsOf(command: string): ExampleRequest[] {
  const words = [...command.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\\\n)|([^\s'"\\|]+|\|)/g)].map(
    ([word, single, double, _, plain]) => single ?? double ?? plain ?? word,
  )
  const options = words.slice(words.lastIndexOf('curl') + 1)
  const headers: Record<string, string> = {}
  const targets: string[] = []
  let method: string | undefined
  let hasBody = false
  for (let at = 0; at < options.length; at++) {
    const option = options[at] ?? ''
    if (option.startsWith('http://')) targets.push(option.replace(/^http:\/\/[^/]*/, ''))
    if (option === '-I') method = 'HEAD'
    if (!VALUED.has(option)) continue
    const value = options[++at] ?? ''
    const [name = '', ...rest] = value.split(':')
    if (option === '-H') headers[name.toLowerCase()] = rest.join(':').trim()
    else if (option === '-X') method = value
    else if (option.startsWith('-d') || option.startsWith('--data')) hasBody = true
  }
  return targets.map((target) => ({
    method: method ?? (hasBody ? 'POST' : 'GET'),
    target,
    headers,
  }))
}
