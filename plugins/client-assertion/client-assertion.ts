import {
  type Client,
  defineClientAuthentication,
  defineFields,
  definePlugin,
  type Kit,
  type MembersOf,
  member,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import { generateKeyPair } from 'jose/key/generate/keypair'
import * as v from 'valibot'
import { clientKeyMembers, hasKeys } from '../shared/client-keys.ts'
import { createPublishedKeys } from '../shared/jwks-uri.ts'
import { type KeySet, keySetOf } from '../shared/key-set.ts'
import type { Verification } from '../shared/verify-jwt.ts'
import { type PresentedAssertion, presentedAssertion, type VerifyOptions, verifiedAssertion } from './assertion.ts'
import { createClaimsCheck, type Expectations } from './assertion-claims.ts'
import {
  audienceSchema,
  type ClientAssertionOptions,
  type Settings,
  secretAlgorithms,
  settingsSchema,
} from './assertion-settings.ts'
import { refusalFor } from './hints.ts'

/** Keys that no client has. A verification with one of them takes as long as with the key of a client. */
interface Decoys {
  keysFor(alg: string): KeySet
}

/** Generates each key when it is first needed, at most one for each algorithm that the plugin allows. */
function createDecoys(): Decoys {
  const keys = new Map<string, ReturnType<typeof generateKeyPair>>()
  return {
    keysFor: (alg) => async () => {
      const pair = keys.get(alg) ?? generateKeyPair(alg)
      keys.set(alg, pair)
      return [(await pair).publicKey]
    },
  }
}

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<ReturnType<typeof clientMembersFor>> {}
}

export type { SendRequest, SendRequest as FetchKeys } from '../shared/fetched-uri.ts'
export { type ClientAssertionOptions, settingsSchema as clientAssertionSchema } from './assertion-settings.ts'

const consumes = ['client_assertion', 'client_assertion_type']

const isSecretAlgorithm = (alg: string): alg is keyof typeof secretAlgorithms => Object.hasOwn(secretAlgorithms, alg)

const fitsClient = (client: Client, alg: string): boolean => (client.tokenEndpointAuthSigningAlg ?? alg) === alg

/** @param all the algorithms of assertions */
const clientMembersFor = (all: readonly string[], { audience, jwksUri }: Settings) => ({
  ...clientKeyMembers(jwksUri.allowPrivateAddresses),
  /** The only algorithm of the client's assertions. Default: every one that the plugin allows. */
  tokenEndpointAuthSigningAlg: member(v.optional(v.picklist(all, `must be one of ${all.join(', ')}`)), {
    title: 'Algorithm of assertions',
    text: 'What it signs its assertions with. Default: any.',
    group: 'keys',
  }),
  /** The value that `aud` of the client's assertions must have. Default: `audience` of the plugin. */
  tokenEndpointAuthAudience: member(v.optional(audienceSchema, audience), {
    title: 'Audience of assertions',
    text: 'Which audience its assertions must have.',
    group: 'keys',
  }),
})

function fields(settings: Settings) {
  const { algorithms, secretOf } = settings
  const all = [...algorithms, ...(secretOf === undefined ? [] : Object.keys(secretAlgorithms))]
  return defineFields({
    client: clientMembersFor(all, settings),
    clientMetadata: { token_endpoint_auth_signing_alg: 'tokenEndpointAuthSigningAlg' },
    metadata: {
      token_endpoint_auth_signing_alg_values_supported: all,
      revocation_endpoint_auth_signing_alg_values_supported: all,
    },
  })
}

/** The values that the claims of an assertion are checked against. For unknown clients, the setting applies. */
const expectationsOf = (
  { clientId, alg, endpointUrls }: PresentedAssertion,
  client: Client | undefined,
  { audience }: Settings,
): Expectations => ({ clientId, alg, endpointUrls, audience: client?.tokenEndpointAuthAudience ?? audience })

const optionsFor = ({ alg }: PresentedAssertion, { clockTolerance }: Settings, kit: Kit): VerifyOptions => ({
  algorithms: [alg],
  currentDate: new Date(kit.now() * 1000),
  clockTolerance,
})

/** The reasons of refusals for which no signature is verified. */
const unverified: ReadonlySet<string | undefined> = new Set([
  'keys_unavailable',
  'keys_address_refused',
  'key_unknown',
  'key_ambiguous',
  'algorithm_not_allowed',
])

/** The limits per minute for fetches of keys of self-described clients: the same as for their documents. */
const selfDescribedLimits = { maxFetches: 600, maxFetchesPerAddress: 20 }

/**
 * Keeps the keys of self-described clients apart, because any caller can name such a client: they must not displace the
 * keys of the operator's clients, and requests that wait for them must not use up the places of other requests.
 */
function publishedKeysOf({ jwksUri }: Settings) {
  const byOperator = createPublishedKeys(jwksUri)
  const byThemselves = createPublishedKeys(jwksUri, { limits: selfDescribedLimits })
  return ({ selfDescribed }: Pick<Client, 'selfDescribed'>) => (selfDescribed === undefined ? byOperator : byThemselves)
}

/** RFC 7523 section 2.2; OpenID Connect Core section 9. */
function privateKeyMethod(settings: Settings) {
  const { algorithms, secretOf } = settings
  const publishedOf = publishedKeysOf(settings)
  const refusalOf = createClaimsCheck(settings)
  const decoys = createDecoys()
  const configured = new WeakMap<object, KeySet>()

  function configuredKeys(jwks: NonNullable<Client['jwks']>): KeySet {
    const known = configured.get(jwks)
    if (known !== undefined) return known
    const keys = keySetOf(jwks)
    configured.set(jwks, keys)
    return keys
  }

  // A public client that has described itself may sign, or not: its document can name both methods.
  const accepts = (client: Client): boolean => hasKeys(client) && (!client.public || client.selfDescribed !== undefined)

  async function verifiedWith(
    client: Client | undefined,
    { alg, clientAddress }: PresentedAssertion,
    kit: Kit,
    verify: (keys: KeySet) => Promise<Verification>,
  ): Promise<Verification> {
    const { jwks, jwksUri } = client !== undefined && accepts(client) ? client : {}
    if (client !== undefined && !fitsClient(client, alg)) return { reason: 'algorithm_not_allowed' }
    if (jwks !== undefined) return verify(configuredKeys(jwks))
    return client === undefined || jwksUri === undefined
      ? { reason: 'keys_unavailable' }
      : publishedOf(client).verify(jwksUri, kit, ({ find }) => verify(find), clientAddress)
  }

  return defineClientAuthentication({
    method: 'private_key_jwt',
    consumes,
    unguessable: true,
    present(parameters, request, { refuse }) {
      const presented = presentedAssertion(parameters, request, refuse)
      const isOther = presented !== undefined && secretOf !== undefined && isSecretAlgorithm(presented.alg)
      return isOther ? undefined : presented
    },
    accepts,
    async verify(presented, client, kit) {
      const { alg } = presented
      const allowed: readonly string[] = algorithms
      if (!allowed.includes(alg)) return refusalFor('algorithm_not_allowed', alg, settings)
      const options = optionsFor(presented, settings, kit)
      const verify = (keys: KeySet) => verifiedAssertion(presented, keys, options)
      const outcome = await verifiedWith(client, presented, kit, verify)
      // No signature was verified. The time must not reveal which clients exist.
      if (unverified.has(outcome.reason)) await verify(decoys.keysFor(alg))
      if (outcome.payload === undefined) return refusalFor(outcome.reason, alg, settings)
      return refusalOf(outcome.payload, expectationsOf(presented, client, settings), kit)
    },
  })
}

/** OpenID Connect Core section 9. */
function secretMethod(settings: Settings, secretOf: NonNullable<Settings['secretOf']>) {
  const refusalOf = createClaimsCheck(settings)
  const method = 'client_secret_jwt'
  const accepts = (client: Client): boolean => !client.public && client.tokenEndpointAuthMethod === method
  return defineClientAuthentication({
    method,
    consumes,
    present(parameters, request, { refuse }) {
      const presented = presentedAssertion(parameters, request, refuse)
      return presented !== undefined && isSecretAlgorithm(presented.alg) ? presented : undefined
    },
    accepts,
    async verify(presented, client, kit) {
      const { alg, clientId } = presented
      const secret = await kit.callHost('clientAssertion.secretOf', () => secretOf(clientId))
      const bytes = secret === undefined ? undefined : new TextEncoder().encode(secret)
      const isUsable = bytes !== undefined && isSecretAlgorithm(alg) && bytes.length >= secretAlgorithms[alg]
      const fits = client !== undefined && accepts(client) && fitsClient(client, alg)
      // A random key, so that no caller can sign for it.
      const key = fits && isUsable ? bytes : new TextEncoder().encode(kit.randomId() + kit.randomId())
      const outcome = await verifiedAssertion(presented, key, optionsFor(presented, settings, kit))
      if (key !== bytes) return { reason: fits ? 'secret_unusable' : 'algorithm_not_allowed' }
      if (outcome.payload === undefined) return refusalFor(outcome.reason, alg, settings)
      return refusalOf(outcome.payload, expectationsOf(presented, client, settings), kit)
    },
  })
}

/**
 * Client authentication by a signed assertion: `private_key_jwt` and, with `secretOf`, `client_secret_jwt`.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 7523 sections 2.2 and 3; OpenID Connect Core section 9
 */
export function clientAssertion(options: ClientAssertionOptions = {}): Plugin {
  const settings = parseConfiguration(settingsSchema, options, 'clientAssertion()')
  const { secretOf } = settings
  return definePlugin('client-assertion', [
    fields(settings),
    privateKeyMethod(settings),
    ...(secretOf === undefined ? [] : [secretMethod(settings, secretOf)]),
  ])
}
