import { configurationObject, type Kit, type MaybePromise, type OptionsOf, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { accountStoreSchema } from '../shared/account-store.ts'
import { functionSchema, seconds, wholeNumber } from '../shared/config-schema.ts'
import { fetchedUriProblem, type SendRequest } from '../shared/fetched-uri.ts'
import { encryptionSecretsSchema } from '../shared/safe.ts'
import { algorithmSchema } from '../shared/verify-jwt.ts'
import type { ProviderAdapter, UpstreamClaims } from './provider.ts'

export const text = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(2000, 'must have at most 2000 characters'),
)
const texts = v.record(text, text, 'must be an object of strings')
/** The schema of a setting that is `true` or `false`. */
export const flag = v.boolean('must be true or false')

/** The `idp` of local users. */
const reserved = 'local'

export const nameSchema = v.pipe(
  v.string('must be a string'),
  v.regex(/^[a-z][a-z\d-]{0,39}$/u, 'must be at most 40 lower-case letters, digits and hyphens'),
  v.check((name) => name !== reserved, `must not be ${reserved}: that is the name for users of this provider`),
)

/** The members of all providers. */
export const commonEntries = {
  /** The `idp` in tokens, and a part of the callback URL. */
  name: nameSchema,
  /** The name on the page. Default: the name. */
  displayName: v.optional(text),
  /** The id of this provider as a client of the upstream one. */
  clientId: text,
  clientSecret: v.optional(text),
  /** The algorithms with which it signs identity tokens and logout tokens. Default: all with a public key. */
  algorithms: v.optional(
    v.pipe(v.array(algorithmSchema, 'must be an array of algorithms'), v.minLength(1, 'must not be empty')),
  ),
  /** Further parameters of authorization requests. */
  parameters: v.optional(texts, {}),
  /** What a value of `acr` means here. Others are dropped, because clients could mistake them for values of yours. */
  acr: v.optional(texts, {}),
  /**
   * Whether a recent sign-in, if a client demands one, must be proved by `auth_time` or is assumed: some providers never
   * send it.
   */
  freshness: v.optional(v.picklist(['proved', 'assumed'], 'must be "proved" or "assumed"'), 'proved'),
  /** Whether to read claims from the userinfo endpoint, if there is one. */
  userinfo: v.optional(flag, true),
  /** Further claims that are kept for the tokens of clients: the name here, and the name at the provider. */
  claims: v.optional(texts, {}),
  /**
   * The mail domains for which the provider decides: a user whose verified address is in one of them, and who signs in for
   * the first time, is the user here with this verified address. Default: none.
   */
  linkBy: v.optional(v.array(text, 'must be an array of domains'), []),
  /** The mail domains whose users are sent to this provider. */
  domains: v.optional(v.array(text, 'must be an array of domains'), []),
  /** A private key (PKCS #8, PEM) for `private_key_jwt`, instead of a secret. Register its public key at the provider. */
  privateKey: v.optional(text),
  /** The `kid` of assertions, by which the provider finds the public key. */
  privateKeyId: v.optional(text),
  privateKeyAlgorithm: v.optional(
    v.picklist(['ES256', 'PS256', 'RS256', 'EdDSA'], 'must be ES256, PS256, RS256 or EdDSA'),
    'ES256',
  ),
  /** Whether requests are pushed (RFC 9126). `auto`: if the provider has an endpoint for it. */
  pushedRequests: v.optional(v.picklist(['auto', 'never'], 'must be "auto" or "never"'), 'auto'),
  /** Whether the access token for userinfo is bound to a key of this process (RFC 9449). */
  dpop: v.optional(flag, false),
  /** Whether a logout here also ends the session at the provider, if it has an `end_session_endpoint`. */
  logout: v.optional(flag, false),
  /** Allows IP addresses and names of the local network, and `http` on this machine. */
  allowPrivateAddresses: v.optional(flag, false),
}

/** The options of the library only: no endpoint of the ready server returns the tokens. */
export const libraryEntries = {
  /**
   * Whether the access token and the refresh token of the last sign-in of each user are stored, encrypted, for
   * `provider.use(upstreamTokens)`. Requires `encryptionSecrets`. Default: `false`.
   */
  keepTokens: v.optional(flag, false),
}

const adapterSchema = v.optional(
  v.custom<ProviderAdapter>((value) => typeof value === 'object' && value !== null, 'must be an object of functions'),
)

/** The members of a preset: it has a name, and knows the rest. */
export const presetEntries = <const N extends string>(name: N, displayName: string) => ({
  ...commonEntries,
  ...libraryEntries,
  name: v.optional(nameSchema, name),
  displayName: v.optional(text, displayName),
})

/** The members of a provider that are data. */
const providerEntries = {
  ...commonEntries,
  /** The issuer, as in its metadata. */
  issuer: v.pipe(
    v.string('must be a URL'),
    v.check((issuer) => /^https?:$/u.test(parseUrl(issuer)?.protocol ?? ''), 'must be a URL'),
  ),
  scope: v.optional(text, 'openid profile email'),
  /** How to authenticate with the secret. */
  authentication: v.optional(
    v.picklist(['client_secret_basic', 'client_secret_post'], 'must be client_secret_basic or client_secret_post'),
  ),
  /** How the response arrives. */
  responseMode: v.optional(v.picklist(['query', 'form_post'], 'must be query or form_post'), 'query'),
}

/** A provider of a configuration file that is no preset. */
export const openIdProviderSchema = configurationObject(providerEntries)

const providerSchema = v.pipe(
  configurationObject({ ...providerEntries, ...libraryEntries, adapter: adapterSchema }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { issuer, allowPrivateAddresses, keepTokens, dpop } = dataset.value
    if (keepTokens && dpop) {
      addIssue({ message: 'keepTokens cannot be used with dpop: the tokens are bound to a key of this process' })
    }
    const message = fetchedUriProblem(issuer, { allowPrivateAddresses, allowLoopbackHttp: true })
    if (message === undefined) return
    const isPrivate = fetchedUriProblem(issuer, { allowPrivateAddresses: true, allowLoopbackHttp: true }) === undefined
    const hint = isPrivate ? '; for a provider in your network, set allowPrivateAddresses to true' : ''
    addIssue({ message: `issuer ${message}${hint}` })
  }),
)

/** A provider at which users can sign in. */
export type UpstreamProvider = OptionsOf<typeof providerSchema>
export type Provider = v.InferOutput<typeof providerSchema>

/** Returns the `sub` of a user, or `undefined` to refuse the sign-in. */
export type UpstreamSubject = (
  claims: UpstreamClaims,
  provider: { readonly name: string; readonly issuer: string },
  kit: Pick<Kit, 'sha256'>,
) => MaybePromise<string | undefined>

const limitEntries = {
  /** Seconds for each response of a provider. */
  timeout: v.optional(seconds(0.1, 30), 5),
  /** Bytes of each response of a provider. */
  maxSize: v.optional(wholeNumber(1024, 1_048_576), 131_072),
  /** Requests to one provider at the same time. More sign-ins are asked to try again. */
  maxRequests: v.optional(wholeNumber(1, 10_000), 64),
}

const settingsSchema = configurationObject({
  ...limitEntries,
  providers: v.pipe(
    v.array(providerSchema, 'must be an array of providers'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(100, 'must have at most 100 providers'),
    v.check((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have different names'),
  ),
  /** Maps a user of a provider to a user here. Default: a hash of `iss` and `sub`, which no other user can have. */
  subject: functionSchema<UpstreamSubject>(),
  /** The accounts of users. A user who signs in for the first time gets one, or is linked to one by `linkBy`. */
  accounts: v.optional(accountStoreSchema),
  /** Replaces the requests, for example to send them through a proxy. The addresses of hosts are then not checked. */
  fetch: functionSchema<SendRequest>(),
  /**
   * Encrypt the tokens of providers with `keepTokens`: at least 32 characters each. The first one encrypts, all decrypt.
   */
  encryptionSecrets: v.optional(encryptionSecretsSchema),
})

export const upstreamSchema = v.pipe(
  settingsSchema,
  v.check(
    ({ providers, encryptionSecrets }) =>
      encryptionSecrets !== undefined || !providers.some(({ keepTokens }) => keepTokens),
    'encryptionSecrets is required for keepTokens',
  ),
)

export interface UpstreamOptions extends Omit<OptionsOf<typeof upstreamSchema>, 'providers'> {
  readonly providers: readonly UpstreamProvider[]
}
export type Settings = v.InferOutput<typeof upstreamSchema>
