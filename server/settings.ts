/** The levels of the log, most to least. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** {@link LOG_LEVELS} as a type. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The endpoint of a server that has none stored and is given none. */
export const DEFAULT_ENDPOINT = 'tcp://127.0.0.1:8529'

/** A setting as the help shows it. A flag wins over the environment. */
export interface Setting {
  readonly flag: string
  readonly value: string
  readonly env: string
  readonly help: string
}

/** Every setting, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    flag: 'endpoint',
    value: 'ADDRESS',
    env: 'GATEHOUSE_ENDPOINTS',
    help: `an endpoint to add if it is missing; repeatable, commas in the environment (${DEFAULT_ENDPOINT} where none is stored)`,
  },
  { flag: 'data', value: 'FOLDER', env: 'GATEHOUSE_DATA', help: 'the data folder (./data)' },
  {
    flag: 'database-url',
    value: 'URL',
    env: 'GATEHOUSE_DATABASE_URL',
    help: 'a PostgreSQL (SQLite in the data folder); …_FILE names a file that holds it',
  },
  {
    flag: 'public-url',
    value: 'URL',
    env: 'GATEHOUSE_PUBLIC_URL',
    help: 'where people reach this server, such as https://gatehouse.example.org',
  },
  { flag: 'node', value: 'NAME', env: 'GATEHOUSE_NODE', help: "this node's name (the host's)" },
  {
    flag: 'drain',
    value: 'SECONDS',
    env: 'GATEHOUSE_DRAIN',
    help: 'how long connections may finish when their endpoint goes (30)',
  },
  {
    flag: 'ready-delay',
    value: 'SECONDS',
    env: 'GATEHOUSE_READY_DELAY',
    help: 'how long health is 503 before a stop begins to drain (0)',
  },
  {
    flag: 'tls-cert',
    value: 'FILE',
    env: 'GATEHOUSE_TLS_CERT',
    help: 'certificate chain of ssl:// endpoints, PEM',
  },
  { flag: 'tls-key', value: 'FILE', env: 'GATEHOUSE_TLS_KEY', help: 'its key, PEM' },
  {
    flag: 'log',
    value: 'LEVEL',
    env: 'GATEHOUSE_LOG',
    help: `${LOG_LEVELS.join(', ')} (info)`,
  },
]

/** A setting that only the environment gives: command lines are seen by everybody on a machine. */
export interface Variable {
  readonly env: string
  readonly help: string
}

/** Every setting without a flag, in the order of the help. */
export const VARIABLES: readonly Variable[] = [
  {
    env: 'GATEHOUSE_OPERATOR_KEY',
    help: 'what the local provider asks for (made at the first start, in the data folder); must be given with a database URL',
  },
  {
    env: 'GATEHOUSE_SECRET_KEY',
    help: "encrypts what is kept of others' secrets: 32 bytes in base64 (likewise)",
  },
  {
    env: 'GATEHOUSE_ADMINS',
    help: 'who is admin from the first sign-in on: <provider>:<id>, with commas',
  },
  {
    env: 'GATEHOUSE_TRUSTED_PROXIES',
    help: 'addresses and CIDR ranges of proxies whose X-Forwarded headers count, with commas (none)',
  },
  ...(['GITHUB', 'GOOGLE', 'FACEBOOK'] as const).flatMap((name) => [
    { env: `GATEHOUSE_${name}_CLIENT_ID`, help: 'sign-in with it; callback: /_oauth2/…/auth' },
    { env: `GATEHOUSE_${name}_CLIENT_SECRET`, help: 'goes with it' },
  ]),
  { env: 'GATEHOUSE_OIDC_ISSUER', help: 'sign-in with any OpenID provider, known by its issuer' },
  { env: 'GATEHOUSE_OIDC_CLIENT_ID', help: 'goes with it' },
  { env: 'GATEHOUSE_OIDC_CLIENT_SECRET', help: 'goes with it' },
  { env: 'GATEHOUSE_OIDC_LABEL', help: 'what its button says' },
  { env: 'GATEHOUSE_OAUTH2_AUTH_ENDPOINT', help: 'sign-in with any other, known by its endpoints' },
  { env: 'GATEHOUSE_OAUTH2_TOKEN_ENDPOINT', help: 'goes with it' },
  { env: 'GATEHOUSE_OAUTH2_REFRESH_ENDPOINT', help: 'if it is another than that' },
  { env: 'GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT', help: 'tells by id, or else sub, who it is' },
  { env: 'GATEHOUSE_OAUTH2_CLIENT_ID', help: 'goes with it' },
  { env: 'GATEHOUSE_OAUTH2_CLIENT_SECRET', help: 'goes with it' },
  { env: 'GATEHOUSE_OAUTH2_LABEL', help: 'what its button says' },
  {
    env: 'GATEHOUSE_OAUTH2_CALLBACK',
    help: 'how it is told where to return to: csrf-in-url, csrf-in-url-identical, exact (csrf-in-url)',
  },
]
