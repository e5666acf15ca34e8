import { configurationObject, type Plugin, type Plugins, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { type AccountPageOptions, accountPage } from '../account/account.ts'
import { authorizationCode } from '../authorization-code/authorization-code.ts'
import {
  type AuthorizationEndpointOptions,
  type AuthorizationFeature,
  authorizationEndpoint,
  type EndpointPages,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { type BackChannelLogoutOptions, backChannelLogout } from '../back-channel-logout/back-channel-logout.ts'
import { endSession, type LogoutPages } from '../end-session/end-session.ts'
import { type StoredSecondFactorsOptions, storedSecondFactors } from '../one-time-password/one-time-password.ts'
import { type StoredPasskeys, storedPasskeys } from '../passkeys/passkeys.ts'
import { proofKey } from '../proof-key/proof-key.ts'
import { type PushedAuthorizationOptions, pushedAuthorization } from '../pushed-authorization/pushed-authorization.ts'
import { refreshToken } from '../refresh-token/refresh-token.ts'
import { type SelfServiceOptions, selfService } from '../self-service/self-service.ts'
import {
  type PasskeyCheck,
  type SecondFactor,
  type SignInOptions,
  type SignInPages,
  type SignInWays,
  signIn,
} from '../sign-in/sign-in.ts'
import { type UpstreamProvider, type UpstreamWays, upstream } from '../upstream/upstream.ts'

/** The pages of a sign-in and a logout: `createPages()` of `@grantry/pages` has them. */
export interface SignInPluginsPages extends SignInPages, EndpointPages, LogoutPages {}

/** The options of the account page. Its passkeys, second factors and linked accounts come from the other options. */
export interface SignInPluginsAccount
  extends Omit<AccountPageOptions, 'passkeys' | 'secondFactors' | 'linkedProviders'> {}

type EndpointOptions = Omit<AuthorizationEndpointOptions, 'interaction' | 'pages'>
type WayOptions = Pick<SignInOptions, 'acr' | 'passwords' | 'ways'>

/** The names are those of the plugin `sign-in` of the ready server. */
export interface SignInPluginsOptions extends EndpointOptions, WayOptions {
  readonly pages: SignInPluginsPages
  /** The providers at which users sign in, or the result of `upstream()`, for its other options. Default: none. */
  readonly providers?: readonly UpstreamProvider[] | UpstreamWays | undefined
  /** `true`: passkeys that the provider stores; or `passkeys()`, for passkeys in a storage of yours. Default: none. */
  readonly passkeys?: boolean | PasskeyCheck | undefined
  /** The options of second factors that the provider stores, or factors such as `totp()`. Default: none. */
  readonly secondFactors?: StoredSecondFactorsOptions | readonly SecondFactor[] | undefined
  /** Default: no page of the account. */
  readonly account?: SignInPluginsAccount | undefined
  /** The accounts that users manage themselves. Default: none. */
  readonly accounts?: SelfServiceOptions | undefined
  readonly pushedRequests?: PushedAuthorizationOptions | undefined
  readonly backChannelLogout?: BackChannelLogoutOptions | undefined
}

const names: Readonly<Record<keyof SignInPluginsOptions, true>> = {
  ...{ sessions: true, interactionLifetime: true, consentLifetime: true, acrValues: true, organizations: true },
  ...{ acr: true, passwords: true, passkeys: true, secondFactors: true, providers: true, ways: true, pages: true },
  ...{ account: true, accounts: true, pushedRequests: true, backChannelLogout: true, features: true },
}

/**
 * Checks the names only, because the functions below check the values. For a misspelled name, those would suggest one
 * of their own options.
 */
const namesSchema = configurationObject(v.entriesFromList(Object.keys(names), v.optional(v.any())))

/** `Array.isArray` does not narrow readonly arrays. */
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Without `accounts`, only the plugin knows the users of providers. */
function providersOf({ providers, accounts }: SignInPluginsOptions): UpstreamWays | undefined {
  if (providers === undefined || !isList(providers)) return providers
  return providers.length === 0 ? undefined : upstream({ providers, accounts: accounts?.store })
}

const passkeysOf = ({ passkeys }: SignInPluginsOptions): StoredPasskeys | PasskeyCheck | undefined =>
  typeof passkeys === 'object' ? passkeys : passkeys === true ? storedPasskeys() : undefined

/**
 * Returns the account page with the parts of the other options. Factors in a storage of the host need a page of the
 * host.
 */
function accountOf(
  { account, accounts, passwords }: SignInPluginsOptions,
  shared: Pick<AccountPageOptions, 'linkedProviders' | 'secondFactors'> & { readonly passkeys: object | undefined },
): readonly AuthorizationFeature[] {
  if (account === undefined) return []
  const { passkeys } = shared
  const ofAccounts = accounts && {
    accounts: accounts.store,
    mailer: accounts.mailer,
    mailLimits: accounts.limits,
    ...(passwords !== false && { passwords: accounts.passwords ?? {} }),
  }
  const stored = passkeys !== undefined && 'list' in passkeys ? (passkeys as StoredPasskeys) : undefined
  return [accountPage({ ...ofAccounts, ...account, ...shared, passkeys: stored })]
}

/**
 * The authorization endpoint with all that the plugin `sign-in` of the ready server has: ready pages, pushed requests, logout
 * and, as its options say, other providers, passkeys, second factors, accounts and their page.
 *
 * @throws TypeError when an option is malformed.
 */
export function signInEndpoint(options: SignInPluginsOptions): Plugin {
  parseConfiguration(namesSchema, options, 'signInPlugins()')
  const { providers: _, passkeys: _passkeys, secondFactors, account, accounts, ...others } = options
  const {
    pushedRequests,
    backChannelLogout: logout,
    acr,
    passwords,
    pages,
    ways = [],
    features = [],
    ...endpoint
  } = others
  const upstreams = providersOf(options)
  const passkeys = passkeysOf(options)
  const stored = secondFactors && !isList(secondFactors) ? storedSecondFactors(secondFactors) : undefined
  const allWays: readonly SignInWays[] = [
    ...(upstreams === undefined ? [] : [upstreams]),
    ...(accounts === undefined ? [] : [selfService(accounts)]),
    ...ways,
  ]
  const interaction = signIn({
    pages,
    acr,
    passwords,
    passkeys,
    secondFactors: isList(secondFactors) ? secondFactors : stored?.factors,
    secondFactorAcr: account?.secondFactorAcr,
    ways: allWays,
  })
  return authorizationEndpoint({
    ...endpoint,
    interaction,
    pages,
    features: [
      pushedAuthorization(pushedRequests),
      endSession({ pages, providers: upstreams }),
      backChannelLogout(logout),
      ...accountOf(options, { passkeys, secondFactors: stored?.account, linkedProviders: upstreams }),
      ...features,
    ],
  })
}

/**
 * All plugins of a sign-in with ready pages: authorization codes with PKCE, refresh tokens, and `signInEndpoint()`.
 *
 * @throws TypeError when an option is malformed.
 * @example
 * const plugins = signInPlugins({ pages: createPages({ name: 'Example' }) })
 */
export const signInPlugins = (options: SignInPluginsOptions): Plugins => [
  authorizationCode(),
  proofKey(),
  refreshToken(),
  signInEndpoint(options),
]
