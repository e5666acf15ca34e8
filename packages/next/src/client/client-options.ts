import { isLocalhostUrl } from '@grantry/core'

/** Where sessions are kept, such as in Redis or a table. All processes of the application share it. */
export interface SessionStore {
  get(key: string): Promise<string | undefined>
  /** @param expiresAt epoch seconds; the store can remove the value then */
  set(key: string, value: string, expiresAt: number): Promise<void>
  delete(key: string): Promise<void>
}

export interface SignInClientOptions {
  /** The provider, such as `https://id.example.com`. */
  readonly issuer: string
  readonly clientId: string
  /** Default: none; the client is public. */
  readonly clientSecret?: string | undefined
  /**
   * The URL of the folder of the route file, such as `https://app.example.com/auth`. Register `…/auth/callback` as redirect URI,
   * and `…/auth/backchannel` for logout tokens.
   */
  readonly url: string
  /** Default: `openid`. For a lasting session, add `offline_access`. */
  readonly scopes?: readonly string[] | undefined
  /** At least 32 characters each, from a random generator. The first encrypts cookies and sessions, all decrypt. */
  readonly secrets: readonly string[]
  /** Default: the session is in encrypted cookies, which no logout token can end. */
  readonly sessions?: SessionStore | undefined
  /** Seconds after which a user has to sign in again. Default: 8 hours. */
  readonly lifetime?: number | undefined
  /** The path of the page after a logout. Register its URL as post-logout redirect URI. Default: `/`. */
  readonly afterLogout?: string | undefined
  /** The path of a page for failed sign-ins, which gets `?error=` and a code. Default: a line of text. */
  readonly errorPath?: string | undefined
  /** Sends the requests to the provider. Default: `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

type Complete = 'issuer' | 'clientId' | 'url' | 'scopes' | 'secrets' | 'lifetime' | 'afterLogout' | 'fetch'

/** The options with their defaults. */
export type Settings = Pick<SignInClientOptions, 'clientSecret' | 'sessions' | 'errorPath'> & {
  readonly [Name in Complete]-?: Exclude<SignInClientOptions[Name], undefined>
}

const refuse = (name: string, demand: string): TypeError => new TypeError(`signInClient(): ${name} must be ${demand}`)

function checkedUrl(name: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isSafe =
    url !== undefined && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhostUrl(url.href)))
  if (!isSafe || url.search !== '' || url.hash !== '') throw refuse(name, 'an https URL, or one of this machine')
  return String(value).replace(/\/$/u, '')
}

/**
 * Returns the path of a URL that the site can redirect to; `undefined` for one of another site. A browser takes `//host`, `/\host`
 * and `/<tab>/host` for another one.
 */
export function localPath(value: string | null | undefined, origin: string): string | undefined {
  if (typeof value !== 'string' || !value.startsWith('/') || !URL.canParse(value, origin)) return undefined
  const { origin: target, pathname, search, hash } = new URL(value, origin)
  return target === origin && !pathname.startsWith('//') ? pathname + search + hash : undefined
}

/** @throws TypeError when an option is malformed. */
export function parseSettings(options: SignInClientOptions): Settings {
  const { clientId, clientSecret, scopes = ['openid'], secrets, lifetime = 28_800, errorPath } = options
  const [issuer, url] = [checkedUrl('issuer', options.issuer), checkedUrl('url', options.url)]
  const { origin } = new URL(url)
  if (typeof clientId !== 'string' || clientId === '') throw refuse('clientId', 'a text')
  if (!scopes.includes('openid')) throw refuse('scopes', 'a list with openid')
  const areLong = Array.isArray(secrets) && secrets.every((secret) => typeof secret === 'string' && secret.length >= 32)
  if (!areLong || secrets.length === 0) throw refuse('secrets', 'a list of texts with at least 32 characters')
  if (!Number.isInteger(lifetime) || lifetime < 60) throw refuse('lifetime', 'at least 60 seconds')
  const afterLogout = localPath(options.afterLogout ?? '/', origin)
  if (afterLogout === undefined) throw refuse('afterLogout', 'a path of the site')
  if (errorPath !== undefined && localPath(errorPath, origin) === undefined) {
    throw refuse('errorPath', 'a path of the site')
  }
  const { sessions, fetch = (target: string, init: RequestInit) => globalThis.fetch(target, init) } = options
  return { issuer, url, clientId, clientSecret, scopes, secrets, lifetime, afterLogout, errorPath, sessions, fetch }
}
