import { maxLifetime } from '../config-schema.ts'
import { exposedIn } from '../errors/error-response.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { after } from '../promises.ts'
import { spentKeyOf } from '../records/keys.ts'
import { randomId } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { EndpointRequest } from './endpoint.ts'
import type { Owned } from './part-kind.ts'
import {
  assertUnused,
  bearer,
  type KeyProofDeps,
  type KeyProofs,
  keyProblem,
  markersOf,
  notConfirmed,
  type Proof,
  type ProofRequest,
  type Proved,
  type SingleUse,
  type TokenBinding,
  type TokenBindings,
  type TokenUse,
  type UsableProof,
} from './token-binding.ts'

const maxKeyLength = 255

const malformed = (plugin: string): TypeError =>
  new TypeError(`The token binding of ${plugin} returned a malformed proof`)

/** Returns a function that validates proofs: a plugin is not trusted, so its proof is validated like any other input. */
function createProofCheck(
  { issuer, runtime }: Pick<KeyProofDeps, 'issuer' | 'runtime'>,
  exposedHeaders: readonly string[],
) {
  /** Its key includes issuer and plugin, so that a plugin cannot use up the proofs of another one. */
  function usableOf(plugin: string, once: SingleUse): UsableProof {
    const { id, expiresAt, refuse } = Object(once) as Partial<SingleUse>
    const now = runtime.now()
    // An end that has passed, or a duration, would let the proof be used again.
    const isEnd = typeof expiresAt === 'number' && expiresAt > now && expiresAt <= now + maxLifetime
    if (typeof id !== 'string' || id === '' || typeof refuse !== 'function' || !isEnd) throw malformed(plugin)
    const key = spentKeyOf('proof', runtime.sha256Hex(JSON.stringify([issuer, plugin, id])))
    return { key, expiresAt, refuse: () => refuse() }
  }

  return function checkProof(plugin: string, proof: Proof | undefined) {
    if (proof === undefined) return undefined
    const { key, headers: unchecked = {}, once } = Object(proof) as Partial<Proof>
    const headers = exposedIn(unchecked, exposedHeaders)
    if (typeof key === 'string' && key !== '' && key.length <= maxKeyLength && headers !== undefined) {
      return { key, headers, usable: once === undefined ? undefined : usableOf(plugin, once) }
    }
    throw malformed(plugin)
  }
}

export function createKeyProofs(
  {
    all,
    hasOwnScheme,
    schemeOf,
    exposedHeaders,
  }: Pick<TokenBindings, 'schemeOf' | 'exposedHeaders'> & {
    readonly all: readonly Owned<TokenBinding>[]
    /** Whether the binding has a scheme besides `Bearer`. */
    readonly hasOwnScheme: (member: string) => boolean
  },
  { store, runtime, kitOf, ...deps }: KeyProofDeps,
): KeyProofs {
  const checkProof = createProofCheck({ ...deps, runtime }, exposedHeaders)

  function useUp(proofs: readonly UsableProof[] = []): MaybePromise<void> {
    if (proofs.length === 0) return undefined
    const marker = { spentAt: runtime.now(), attempt: randomId(runtime, 12) }
    return after(store.commit({ create: markersOf(proofs, marker) }), (used) => assertUnused(proofs, used))
  }

  /** Asks one binding at a time: one of the host can use up a proof itself, and must not after a refusal. */
  async function ask(
    bindings: readonly Owned<TokenBinding>[],
    request: EndpointRequest,
    use: Pick<ProofRequest, 'client' | 'accessToken' | 'asksForTokens'>,
  ): Promise<Proved> {
    const confirmation: Record<string, string> = {}
    let headers: Readonly<Record<string, string>> = {}
    const usable: UsableProof[] = []
    for (const { plugin, part } of bindings) {
      const proof = checkProof(plugin, await part.prove({ ...request, ...use }, kitOf(plugin)))
      if (proof === undefined) continue
      confirmation[part.member] = proof.key
      headers = { ...headers, ...proof.headers }
      if (proof.usable !== undefined) usable.push(proof.usable)
    }
    // Frozen, because grants and checks receive it.
    const keys = Object.keys(confirmation).length > 0 ? Object.freeze(confirmation) : undefined
    return { confirmation: keys, headers, usable }
  }

  async function confirmBound(
    request: EndpointRequest,
    { token, scheme, client, confirmation: required }: TokenUse,
  ): Promise<Proved> {
    // A bound token with the scheme of a bearer token comes from a thief, or from a client that ignores `token_type`.
    if (required === undefined || schemeOf(required) !== scheme) throw notConfirmed('wrong_scheme')
    const bindings = all.filter(({ part }) => Object.hasOwn(required, part.member))
    const proved = await ask(bindings, request, { client, accessToken: token, asksForTokens: false })
    const problem = keyProblem(required, proved.confirmation)
    if (problem !== undefined) throw notConfirmed(problem)
    await useUp(proved.usable)
    return proved
  }

  const admitting = all.filter(({ part }) => part.admit !== undefined)

  async function admit(request: EndpointRequest): Promise<void> {
    for (const { plugin, part } of admitting) await part.admit?.(request, kitOf(plugin))
  }

  return {
    admit: admitting.length === 0 ? undefined : admit,

    async prove(request, client, asksForTokens) {
      const proved = await ask(all, request, { client, accessToken: undefined, asksForTokens })
      // The response can have only one `token_type`.
      if (Object.keys(proved.confirmation ?? {}).filter(hasOwnScheme).length > 1) {
        throw new OAuthError('invalid_request', 'The request proves several keys', { reason: 'several_proofs' })
      }
      return proved
    },

    confirm: (facts, use) =>
      use.confirmation === undefined && use.scheme === bearer ? undefined : confirmBound(facts(), use),

    useUp,
  }
}
