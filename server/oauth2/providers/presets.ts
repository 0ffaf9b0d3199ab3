import type { OAuth2ClientOptions } from './client.ts'

/** What is the same for every application of a provider. */
export interface Preset extends Pick<OAuth2ClientOptions, 'authEndpoint' | 'tokenEndpoint'> {
  /** The provider's name, as people know it. */
  readonly label: string
  readonly activeUserEndpoint: string
}

/**
 * Settings of well-known providers, to be spread into the options of `createOAuth2Client` beside
 * `clientId` and `clientSecret`. A callback URL of the application has to be registered at each.
 * All take `client_secret_post` (the default) and ignore or check PKCE.
 */
export const presets = {
  /**
   * The token endpoint answers form-encoded where `Accept` does not ask for JSON, and reports
   * errors with status 200. The user endpoint refuses requests without `User-Agent`; its `id` is a
   * number. There is no refresh token, unless the application lets its tokens expire.
   */
  github: {
    label: 'GitHub',
    authEndpoint: 'https://github.com/login/oauth/authorize?scope=user',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    activeUserEndpoint: 'https://api.github.com/user',
  },
  /**
   * Version 2 of the user endpoint, because it calls the person's identifier `id`; in version 3 and
   * in OpenID Connect's the same value is `sub`. With `access_type=offline` there is a refresh
   * token, at the person's first consent only; `prompt=consent` asks for another.
   */
  google: {
    label: 'Google',
    authEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&scope=profile',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    activeUserEndpoint: 'https://www.googleapis.com/oauth2/v2/userinfo',
  },
  /**
   * Without `scope` it grants `public_profile`, which has `id` and `name`; `id` is another one for
   * each application. Its `error` is an object. A version is served for two years and more, and
   * calls to a past one go to the oldest that is left. There is no refresh token.
   */
  facebook: {
    label: 'Facebook',
    authEndpoint: 'https://www.facebook.com/v26.0/dialog/oauth',
    tokenEndpoint: 'https://graph.facebook.com/v26.0/oauth/access_token',
    activeUserEndpoint: 'https://graph.facebook.com/v26.0/me?fields=id,name',
  },
} as const satisfies Readonly<Record<string, Preset>>

/** The providers that have a preset, as paths and settings name them. */
export type PresetName = keyof typeof presets
