import { createGuessLimits } from '../abuse/window-limit.ts'
import { maxLifetime, parseConfiguration } from '../config-schema.ts'
import { constantTimeEqual } from '../directory/check-secret.ts'
import { createHostCalls, type HostLimits } from '../directory/host-port.ts'
import { createRefuse } from '../errors/oauth-error.ts'
import type { Recorder } from '../events/recorder.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { missing } from '../parts/capability.ts'
import { declaredType } from '../parts/fields.ts'
import type { GrantKit } from '../parts/grant-kit.ts'
import type { Kit, PluginRecords } from '../parts/kit.ts'
import type { Registry } from '../parts/registry.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import { type Runtime, randomId, utf8 } from '../runtime.ts'
import type { ScopeClaims } from '../tokens/access-token-claims.ts'
import { identityTokenAlgorithmOf } from '../tokens/identity-token.ts'
import { foreignType, type Jwt } from '../tokens/jwt.ts'
import type { JsonObject } from '../types.ts'
import type { OpenSealing } from './plugin-seal.ts'
import { createRedemption } from './redemption.ts'

/** Seconds that can pass between the calculation of `expiresAt` and its use. */
const maxDelay = 60

/**
 * Checks that `expiresAt` is an epoch time. A duration passed by mistake would make a single-use credential usable
 * again immediately. An end that has just passed is not a mistake: time passes between its calculation and this check.
 */
const createExpiryCheck =
  (runtime: Pick<Runtime, 'now'>) =>
  (expiresAt: number): number => {
    const now = runtime.now()
    if (Number.isFinite(expiresAt) && expiresAt > now - maxDelay && expiresAt <= now + maxLifetime) return expiresAt
    throw new TypeError(
      `expiresAt must be in epoch seconds and in the future, but is ${expiresAt}; use kit.now() plus a number of seconds`,
    )
  }

/** @param hashed returns the part of a stored key that belongs to this plugin alone */
function createPluginRecords(
  store: Store,
  hashed: (key: string) => string,
  validExpiry: (expiresAt: number) => number,
): PluginRecords {
  const at = (key: string): string => keyOf('plugin', hashed(key))
  return {
    get: async (key, schema) => store.get(at(key), schema),
    put: async (key, value, expiresAt, options) => store.put(at(key), value, validExpiry(expiresAt), options),
    insert: async (key, value, expiresAt, options) => store.insert(at(key), value, validExpiry(expiresAt), options),
    delete: async (key) => store.delete(at(key)),
    async update(key, schema, change) {
      await store.update<unknown>(at(key), schema, (present) => {
        const changed = change(present as Parameters<typeof change>[0])
        return changed && { ...changed, expiresAt: validExpiry(changed.expiresAt) }
      })
    },
    increment: async (key, expiresAt) => store.increment(keyOf('count', hashed(key)), validExpiry(expiresAt)),
  }
}

/** The part of the kit of a grant that depends on the plugin only, not on a request. */
type PluginGrantKit = Kit & Pick<GrantKit, 'redemption'>

/** The kits of the plugins: the same ones for every request. */
export interface PluginKits {
  kitOf(plugin: string): Kit
  grantKitOf(plugin: string): PluginGrantKit
}

/** Seconds. OpenID Connect Back-Channel Logout 1.0 section 4 recommends at most two minutes for a logout token. */
const longestLifetime = 120

/**
 * Whether a JWT with `sub` and `exp` is what its plugin has declared. It cannot be of use as an identity token: it has no
 * `nonce`, which clients compare, and expires soon.
 */
function isDeclared(claims: JsonObject | undefined, payload: Readonly<Record<string, unknown>>): boolean {
  const { nonce, exp, iat } = payload
  const isBrief = typeof exp === 'number' && typeof iat === 'number' && exp <= iat + longestLifetime
  const hasClaims = Object.entries(claims ?? {}).every(
    ([name, value]) => JSON.stringify(payload[name]) === JSON.stringify(value),
  )
  return claims !== undefined && nonce === undefined && isBrief && hasClaims
}

/** For a provider whose plugins seal nothing. */
const noSealing = { seal: missing('seal', 'sealing'), unseal: missing('unseal', 'sealing') }

interface PluginKitDeps {
  readonly issuer: string
  readonly tokenEndpoints: readonly string[]
  readonly keys: KeyRing
  readonly scopeRules: () => ScopeClaims
  readonly jwt: Jwt
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
  readonly hostLimits: HostLimits
  readonly registry: Pick<Registry, 'capabilities' | 'clientSchema' | 'clientMetadata' | 'signedTypes'>
}

function createSign(
  { issuer, jwt, keys, registry, runtime }: Pick<PluginKitDeps, 'issuer' | 'jwt' | 'keys' | 'registry' | 'runtime'>,
  plugin: string,
): Kit['sign'] {
  return async (typ, claims, client) => {
    if (!foreignType.test(typ))
      throw new TypeError(`sign(): ${JSON.stringify(typ)} is not a type that a plugin can sign`)
    // A copy, which has no getters. `toJSON` would replace the claims that are checked here.
    const payload: Readonly<Record<string, unknown>> = { ...claims, iss: issuer, iat: runtime.now() }
    if (typeof payload.toJSON === 'function') throw new TypeError('sign(): the claims are not JSON')
    const declared = declaredType(registry.signedTypes, typ, plugin)
    if (payload.sub !== undefined && payload.exp !== undefined && !isDeclared(declared?.claims, payload)) {
      throw new TypeError(
        'sign(): a JWT with sub and exp could be accepted as an identity token; omit one of them, or declare its type and claims with defineFields({ signs })',
      )
    }
    return jwt.signOther(payload as JsonObject, typ, client && identityTokenAlgorithmOf(client, keys))
  }
}

/** Returns a function that creates `seal` and `unseal` of a plugin. */
function createSealOf(deps: PluginKitDeps): ReturnType<OpenSealing> {
  const open = deps.registry.capabilities.get('sealing')?.open as OpenSealing | undefined
  return open?.(deps) ?? (() => noSealing)
}

const createProblemOfClient =
  ({ clientSchema }: Pick<Registry, 'clientSchema'>): Kit['problemOfClient'] =>
  (client) => {
    try {
      parseConfiguration(clientSchema, client, 'client')
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof TypeError)) throw thrown
      return thrown.message
    }
  }

export function createPluginKits(deps: PluginKitDeps): PluginKits {
  const { issuer, tokenEndpoints, scopeRules, store, runtime, recorder, hostLimits, registry, keys } = deps
  const callHost = createHostCalls(hostLimits)
  const sealOf = createSealOf(deps)

  const validExpiry = createExpiryCheck(runtime)

  function createKits(plugin: string) {
    const recordUser: Kit['recordUser'] = (fact, { sub, client, clientAddress }) => {
      const trace = recorder.start('recordUser', { clientAddress })
      trace.client = client
      trace.sub = sub
      recorder.record(trace, fact)
    }
    const recordClient: Kit['recordClient'] = (fact, { clientAddress }) =>
      recorder.record(recorder.start('recordClient', { clientAddress }), fact)
    // The hash includes issuer and plugin, so that a plugin cannot access the records of another plugin, or of another
    // provider on the same store.
    const hashed = (key: string): string => runtime.sha256Hex(JSON.stringify([issuer, plugin, key]))
    const records = createPluginRecords(store, hashed, validExpiry)
    const kit: Kit = {
      issuer,
      tokenEndpoints,
      audienceOf: (audience) => scopeRules().audiences.registered(audience),
      clientMetadata: registry.clientMetadata,
      signingAlgorithms: keys.algorithms,
      problemOfClient: createProblemOfClient(registry),
      now: runtime.now,
      sha256: (data) => runtime.base64url(runtime.sha256(typeof data === 'string' ? utf8(data) : data)),
      equals: (left, right) => constantTimeEqual(left, right),
      randomId: () => randomId(runtime, 32),
      refuse: createRefuse(plugin),
      records,
      recordUser,
      recordClient,
      callHost,
      ...sealOf(plugin),
      sign: createSign(deps, plugin),
      limitGuesses: createGuessLimits(plugin, { issuer, store, runtime, recorder }),
    }
    const grantKit: PluginGrantKit = {
      ...kit,
      redemption: (credential, expiresAt) =>
        createRedemption({ kind: 'plugin', hash: hashed(credential), expiresAt: validExpiry(expiresAt) }, {}),
    }
    return { kit, grantKit }
  }

  const created = new Map<string, ReturnType<typeof createKits>>()
  function kitsOf(plugin: string) {
    const known = created.get(plugin)
    if (known !== undefined) return known
    const kits = createKits(plugin)
    created.set(plugin, kits)
    return kits
  }

  return {
    kitOf: (plugin) => kitsOf(plugin).kit,
    grantKitOf: (plugin) => kitsOf(plugin).grantKit,
  }
}
