/**
 * Returns a token response in the form of RFC 6749 §5.1, which `oauth4webapi` requires
 * (docs/decisions/0010-own-oauth2-token-request.md): JSON with status 200, or an error with status 400. A
 * response that cannot be parsed is returned unchanged.
 */
export async function normalizeTokenResponse(response: Response): Promise<Response> {
  const fields = parseFields(await response.clone().text())
  if (fields === undefined) return response
  const { token_type, expires_in, scope, ...others } = fields
  const hasFailed = typeof fields.error === 'string' && fields.access_token === undefined
  const seconds = Number.parseFloat(String(expires_in))
  const body = {
    ...Object.fromEntries(
      Object.entries(others).filter(([, value]) => value !== null && value !== ''),
    ),
    token_type: typeof token_type === 'string' && token_type !== '' ? token_type : 'bearer',
    ...(seconds >= 0 && { expires_in: seconds }),
    ...(typeof scope === 'string' && { scope }),
    ...(Array.isArray(scope) && { scope: scope.join(' ') }),
  }
  const headers = new Headers(response.headers)
  headers.set('Content-Type', 'application/json')
  const status = response.ok ? (hasFailed ? 400 : 200) : response.status
  return new Response(JSON.stringify(body), { status, headers })
}

/** Parses JSON or form encoding. A form contains each field once, and `access_token` or `error`. */
function parseFields(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined
  } catch {
    const form = new URLSearchParams(text)
    const fields = Object.fromEntries(form)
    const isForm = fields.access_token !== undefined || fields.error !== undefined
    return isForm && Object.keys(fields).length === form.size ? fields : undefined
  }
}
