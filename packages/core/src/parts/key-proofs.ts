import { exposedIn } from '../errors/error-response.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { EndpointRequest } from './endpoint.ts'
import { keyProblem } from './holder.ts'
import type { Kit } from './kit.ts'
import type { Owned } from './part-kind.ts'
import {
  bearer,
  type KeyProofs,
  notConfirmed,
  type Proof,
  type ProofRequest,
  type Proved,
  type TokenBinding,
  type TokenBindings,
  type TokenUse,
} from './token-binding.ts'

const maxKeyLength = 255

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
  kitOf: (plugin: string) => Kit,
): KeyProofs {
  /** A plugin is not trusted: its proof is validated like any other input. */
  function checkProof(plugin: string, proof: Proof | undefined): Proof | undefined {
    if (proof === undefined) return undefined
    const { key, headers: given = {} } = Object(proof) as Partial<Proof>
    const headers = exposedIn(given, exposedHeaders)
    if (typeof key === 'string' && key !== '' && key.length <= maxKeyLength && headers !== undefined) {
      return { key, headers }
    }
    throw new TypeError(`The token binding of ${plugin} returned a malformed proof`)
  }

  /** Asks some bindings. In sequence, so that a refused proof does not use up another one. */
  async function ask(
    bindings: readonly Owned<TokenBinding>[],
    request: EndpointRequest,
    use: Pick<ProofRequest, 'client' | 'accessToken' | 'asksForTokens'>,
  ): Promise<Proved> {
    const confirmation: Record<string, string> = {}
    let headers: Readonly<Record<string, string>> = {}
    for (const { plugin, part } of bindings) {
      const proof = checkProof(plugin, await part.prove({ ...request, ...use }, kitOf(plugin)))
      if (proof === undefined) continue
      confirmation[part.member] = proof.key
      headers = { ...headers, ...proof.headers }
    }
    // Frozen, because grants and checks receive it.
    return { confirmation: Object.keys(confirmation).length > 0 ? Object.freeze(confirmation) : undefined, headers }
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
    if (problem === undefined) return proved
    throw notConfirmed(problem)
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
  }
}
