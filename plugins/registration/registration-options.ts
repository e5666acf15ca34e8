import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { refreshTokenOption } from '../shared/client-members.ts'
import { wholeNumber, wholeSeconds } from '../shared/config-schema.ts'
import { issuerKeyEntries } from '../shared/configured-issuers.ts'
import { hostPolicies } from '../shared/host-policy.ts'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'

const names = v.array(v.string('must be a string'), 'must be an array of strings')
const flag = (byDefault: boolean) => v.optional(v.boolean('must be true or false'), byDefault)

/** The authentication methods that registered clients can have. */
const methods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth'] as const
const method = v.picklist(methods, `must be one of ${methods.join(', ')}`)
const redirectPolicy = v.picklist(['allow', 'refuse'], 'must be "allow" or "refuse"')

export const registrationSchema = configurationObject({
  /** The scopes that clients can ask for. A software statement can name fewer; what a client itself registers limits nothing. */
  scopes: v.pipe(names, v.minLength(1, 'must not be empty')),
  /** The grant types that clients can use. A client can only name fewer. */
  grantTypes: v.optional(v.pipe(names, v.minLength(1, 'must not be empty')), ['authorization_code', 'refresh_token']),
  /** The refresh tokens of these clients. */
  refreshToken: refreshTokenOption,
  /** How clients can authenticate. `private_key_jwt` needs the plugin `client-assertion`, `tls_client_auth` the plugin `mtls`. */
  authenticationMethods: v.optional(
    v.pipe(v.array(method, 'must be an array of methods'), v.minLength(1, 'must not be empty')),
    ['none', 'client_secret_basic', 'client_secret_post'],
  ),
  /** `ask`: users are asked at each sign-in. `allow`: a consent can be remembered. */
  consent: v.optional(v.picklist(['allow', 'ask'], 'must be "allow" or "ask"'), 'ask'),
  /** Whether anyone can register clients, within the limits. Without it, a token or a software statement is required. */
  open: flag(false),
  /** Registrations without an initial access token in a `window`, from one address. Default: 100, and at most `maxTotal`. */
  maxPerAddress: v.optional(wholeNumber(1, 1_000_000)),
  /** The same for all addresses together. */
  maxTotal: v.optional(wholeNumber(1, 1_000_000), 1000),
  /** Seconds in which `maxPerAddress` and `maxTotal` count. */
  window: v.optional(wholeSeconds(60, 86_400), 3600),
  /** The issuers of software statements that are accepted (RFC 7591 section 2.3). Default: statements are ignored. */
  softwareStatements: v.optional(
    configurationObject({
      /** The issuers of the statements, with their keys. */
      issuers: v.pipe(
        v.array(configurationObject(issuerKeyEntries), 'must be an array of issuers'),
        v.minLength(1, 'must not be empty'),
      ),
      /** How keys are fetched. */
      jwksUri: v.optional(jwksUriSettingsSchema, {}),
    }),
  ),
  /** Whether redirect URIs can have a host; the first pattern that fits counts. */
  redirectHosts: hostPolicies(redirectPolicy),
  /** The same for all other hosts. */
  otherRedirectHosts: v.optional(redirectPolicy, 'allow'),
  /** Whether redirect URIs can lead to programs on the device: `http` on the machine of the user, and private-use schemes. */
  nativeRedirects: flag(true),
  /** Seconds after which a client ends that has got no token. */
  firstTokenWithin: v.optional(wholeSeconds(60, 2_592_000), 3600),
  /** Seconds after the last token at which a client ends. */
  unusedLifetime: v.optional(wholeSeconds(3600, 315_360_000), 7_776_000),
  /** Seconds after which a secret ends. 0: never. */
  secretLifetime: v.optional(wholeSeconds(0, 315_360_000), 7_776_000),
  /** Allows hosts of the local network in `jwks_uri`. Must equal the setting of `client-assertion`. */
  allowPrivateAddresses: flag(false),
})

export type RegistrationOptions = OptionsOf<typeof registrationSchema>
export type Settings = v.InferOutput<typeof registrationSchema>
