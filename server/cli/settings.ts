/** Log levels, most verbose first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The endpoint of a server without stored or configured endpoints. */
export const DEFAULT_ENDPOINT = 'tcp://127.0.0.1:8529'

/** A setting as the help shows it. A flag overrides the environment. */
export interface Setting {
  readonly flag: string
  readonly value: string
  readonly env: string
  readonly help: string
  /** Whether `<env>_FILE` may name a file with the value. */
  readonly isSecret?: boolean
}

/** Every setting with a flag, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    flag: 'endpoint',
    value: 'ADDRESS',
    env: 'GATEHOUSE_ENDPOINTS',
    help: `endpoint to add if it does not exist; repeat the flag, or separate with commas in the variable (default: ${DEFAULT_ENDPOINT} if none is stored)`,
  },
  { flag: 'data', value: 'FOLDER', env: 'GATEHOUSE_DATA', help: 'data folder (default: ./data)' },
  {
    flag: 'database-url',
    value: 'URL',
    env: 'GATEHOUSE_DATABASE_URL',
    isSecret: true,
    help: 'PostgreSQL URL (default: SQLite in the data folder); …_FILE reads it from a file',
  },
  {
    flag: 'public-url',
    value: 'URL',
    env: 'GATEHOUSE_PUBLIC_URL',
    help: 'URL at which browsers reach this server, such as https://gatehouse.example.org',
  },
  {
    flag: 'node',
    value: 'NAME',
    env: 'GATEHOUSE_NODE',
    help: 'name of this node (default: the host name)',
  },
  {
    flag: 'drain',
    value: 'SECONDS',
    env: 'GATEHOUSE_DRAIN',
    help: 'how long connections may finish after their endpoint is removed (default: 30)',
  },
  {
    flag: 'ready-delay',
    value: 'SECONDS',
    env: 'GATEHOUSE_READY_DELAY',
    help: 'how long readiness is 503 before a stopping node closes its listeners (default: 0)',
  },
  {
    flag: 'tls-cert',
    value: 'FILE',
    env: 'GATEHOUSE_TLS_CERT',
    help: 'certificate chain of ssl:// endpoints, PEM',
  },
  {
    flag: 'tls-key',
    value: 'FILE',
    env: 'GATEHOUSE_TLS_KEY',
    help: 'private key of the certificate, PEM',
  },
  {
    flag: 'log',
    value: 'LEVEL',
    env: 'GATEHOUSE_LOG',
    help: `${LOG_LEVELS.join(', ')} (default: info)`,
  },
  {
    flag: 'access-log',
    value: 'FILE',
    env: 'GATEHOUSE_ACCESS_LOG',
    help: 'file to append a JSON line to for each request, or - for standard output; SIGUSR2 opens it again (default: none)',
  },
]

/** A setting that has no flag, because all users of a machine can read command lines. */
export type Variable = Pick<Setting, 'env' | 'help' | 'isSecret'>

/** Every setting without a flag, in the order of the help. */
export const VARIABLES: readonly Variable[] = [
  {
    env: 'GATEHOUSE_OPERATOR_KEY',
    isSecret: true,
    help: 'key for signing in with the local provider (default: generated in the data folder); required with a database URL',
  },
  {
    env: 'GATEHOUSE_SECRET_KEY',
    isSecret: true,
    help: 'key that encrypts stored provider tokens and secrets of webhooks, 32 bytes in base64 (default: generated in the data folder); required with a database URL',
  },
  {
    env: 'GATEHOUSE_ADMINS',
    help: 'people who are admins from their first sign-in: <provider>:<id>, separated by commas',
  },
  {
    env: 'GATEHOUSE_TRUSTED_PROXIES',
    help: 'addresses and CIDR ranges of trusted proxies, whose X-Forwarded headers are used, separated by commas (default: none)',
  },
  {
    env: 'GATEHOUSE_ACME_DIRECTORY',
    help: 'URL of the ACME directory from which certificates are ordered (default: none)',
  },
  { env: 'GATEHOUSE_ACME_CONTACT', help: 'email address of the account at this directory' },
  {
    env: 'GATEHOUSE_ACME_TERMS',
    help: 'set to agreed if you agree to the terms of this directory',
  },
  {
    env: 'GATEHOUSE_ACME_HTTP_PORT',
    help: 'port at which its requests to port 80 arrive at this machine (default: 80)',
  },
  {
    env: 'GATEHOUSE_WEBHOOK_ALLOW',
    help: 'addresses and CIDR ranges that are not public, to which webhooks may send requests, separated by commas (default: none)',
  },
  ...(['GITHUB', 'GOOGLE', 'FACEBOOK'] as const).flatMap((name) => [
    {
      env: `GATEHOUSE_${name}_CLIENT_ID`,
      help: 'client id at this provider; register the callback URL /_oauth2/…/auth',
    },
    { env: `GATEHOUSE_${name}_CLIENT_SECRET`, help: 'client secret', isSecret: true },
  ]),
  { env: 'GATEHOUSE_OIDC_ISSUER', help: 'issuer of an OpenID Connect provider' },
  { env: 'GATEHOUSE_OIDC_CLIENT_ID', help: 'client id' },
  { env: 'GATEHOUSE_OIDC_CLIENT_SECRET', help: 'client secret', isSecret: true },
  { env: 'GATEHOUSE_OIDC_LABEL', help: 'label of its sign-in button' },
  {
    env: 'GATEHOUSE_OIDC_ROLE_CLAIM',
    help: 'claim with the groups of a person, such as groups, which assign roles at each sign-in',
  },
  {
    env: 'GATEHOUSE_OIDC_ROLES',
    help: 'roles of these groups: <group>:<role>, separated by commas; the highest role wins',
  },
  {
    env: 'GATEHOUSE_OAUTH2_AUTH_ENDPOINT',
    help: 'authorization endpoint of another OAuth 2.0 provider',
  },
  { env: 'GATEHOUSE_OAUTH2_TOKEN_ENDPOINT', help: 'its token endpoint' },
  {
    env: 'GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT',
    help: 'endpoint that returns the signed-in user, identified by id or sub',
  },
  { env: 'GATEHOUSE_OAUTH2_CLIENT_ID', help: 'client id' },
  { env: 'GATEHOUSE_OAUTH2_CLIENT_SECRET', help: 'client secret', isSecret: true },
  { env: 'GATEHOUSE_OAUTH2_LABEL', help: 'label of its sign-in button' },
  {
    env: 'GATEHOUSE_OAUTH2_CALLBACK',
    help: 'form of the callback URL: csrf-in-url, csrf-in-url-identical or exact (default: csrf-in-url)',
  },
]
