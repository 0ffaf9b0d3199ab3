/** Name of the built-in provider. */
export const LOCAL_PROVIDER = 'local'

/** Label of its button on the sign-in page. */
export const LOCAL_PROVIDER_LABEL = 'Operator key'

/** The person who signs in with the operator key (docs/sign-in.md, "The operator key"). */
export const OPERATOR = {
  provider: LOCAL_PROVIDER,
  issuer: 'gatehouse',
  subject: 'operator',
  username: `${LOCAL_PROVIDER}:operator`,
} as const
