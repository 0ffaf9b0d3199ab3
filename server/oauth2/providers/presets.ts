import type { OAuth2ClientOptions } from '../client.ts'

/** Settings that all applications of a provider share. */
export interface Preset extends Pick<OAuth2ClientOptions, 'authEndpoint' | 'tokenEndpoint'> {
  /** The provider's name, as shown to people. */
  readonly label: string
  readonly activeUserEndpoint: string
}

/**
 * Settings of well-known providers, to spread into the options of `createOAuth2Client` together
 * with `clientId` and `clientSecret`. Each provider requires the application's callback URL to be
 * registered. All accept `client_secret_post` (the default) and either ignore or check PKCE.
 */
export const presets = {
  /**
   * The token endpoint responds form-encoded unless `Accept` requests JSON, and reports errors with
   * status 200. The user endpoint rejects requests without `User-Agent`. Its `id` is a number.
   * GitHub issues a refresh token only if the application's tokens expire.
   */
  github: {
    label: 'GitHub',
    authEndpoint: 'https://github.com/login/oauth/authorize?scope=user',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    activeUserEndpoint: 'https://api.github.com/user',
  },
  /**
   * Uses version 2 of the user endpoint, which names the person's identifier `id`. Version 3 and
   * OpenID Connect name the same value `sub`. With `access_type=offline`, Google issues a refresh
   * token, but only at the person's first consent; `prompt=consent` requests another one.
   */
  google: {
    label: 'Google',
    authEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&scope=profile',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    activeUserEndpoint: 'https://www.googleapis.com/oauth2/v2/userinfo',
  },
  /**
   * Without `scope`, Facebook grants `public_profile`, which includes `id` and `name`. `id` differs
   * for each application. `error` is an object. Each API version is available for at least two
   * years; calls to a retired version are served by the oldest available one. There is no refresh
   * token.
   */
  facebook: {
    label: 'Facebook',
    authEndpoint: 'https://www.facebook.com/v26.0/dialog/oauth',
    tokenEndpoint: 'https://graph.facebook.com/v26.0/oauth/access_token',
    activeUserEndpoint: 'https://graph.facebook.com/v26.0/me?fields=id,name',
  },
} as const satisfies Readonly<Record<string, Preset>>

/** Names of the presets, as in paths and settings. */
export type PresetName = keyof typeof presets
