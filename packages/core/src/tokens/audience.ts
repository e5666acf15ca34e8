import type { ScopeDirectory } from '../directory/scopes.ts'
import type { Json } from '../types.ts'

const unreserved = /^[\w.~-]$/u

/** Decodes the escapes of unreserved characters, and writes the others in capitals. */
const withNormalEscapes = (uri: string): string =>
  uri.replaceAll(/%([\da-f]{2})/giu, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return unreserved.test(character) ? character : escaped.toUpperCase()
  })

/**
 * Returns the same text for equivalent URIs: the case of scheme and host, the default port, an empty path, dot segments
 * and escapes do not matter. Returns a text that is not a URI unchanged.
 *
 * @see RFC 3986 sections 6.2.2 and 6.2.3
 */
function normalizedUri(text: string): string {
  const uri = withNormalEscapes(text)
  try {
    const { href, host } = new URL(uri)
    // The host of a scheme that the URL standard does not know keeps its case.
    return host === '' ? href : href.replace(host, host.toLowerCase())
  } catch {
    return text
  }
}

/** Determines the audience of access tokens from their scopes. */
export interface Audiences {
  /**
   * Returns the claim `aud`: an array only for several audiences.
   *
   * @param limit those that the token can have; default: any
   */
  of(scopes: readonly string[], limit?: readonly string[]): string | readonly string[]
  /** Whether one of the scopes belongs to several audiences, so that a request has to name the one that it means. */
  areShared(scopes: readonly string[]): boolean
  /** Returns the audiences that each of the shared scopes could be used at, as `scope audience`. @param limit as for `of` */
  reachOf(scopes: readonly string[], limit?: readonly string[]): readonly string[]
  /** Returns the audiences of the scopes, each with those of the scopes that it has. @param limit as for `of` */
  resourcesOf(
    scopes: readonly string[],
    limit?: readonly string[],
  ): readonly { readonly audience: string; readonly scopes: readonly string[] }[]
  /** Returns what `of` returns as an array, which is never empty. */
  listOf(scopes: readonly string[]): readonly string[]
  /**
   * Returns the scopes without those of other audiences. Scopes that belong to no API remain: identity scopes and
   * `offline_access`.
   */
  within(scopes: readonly string[], audiences: readonly string[]): readonly string[]
  /**
   * Returns the audience of a scope that is an equivalent URI, as it is registered: tokens contain this form, because APIs
   * compare it character by character. Returns any other text unchanged.
   */
  registered(audience: string): string
  /** Whether `aud` contains an audience of the token's scopes, according to the current configuration. */
  fits(aud: Json | undefined, scopes: readonly string[]): boolean
}

export function createAudiences(issuer: string, directory: ScopeDirectory): Audiences {
  const fallback = `${issuer}/resources`
  const ofScopes = new Map(
    directory.all.flatMap(({ name, audience }) => (audience === undefined ? [] : [[name, [audience].flat()] as const])),
  )
  const known = new Set([fallback, ...[...ofScopes.values()].flat()])
  const shared = new Set([...ofScopes].flatMap(([name, audiences]) => (audiences.length > 1 ? [name] : [])))
  // The first one, if two are equivalent.
  const equivalent = new Map([...known].reverse().map((audience) => [normalizedUri(audience), audience]))
  function listOf(scopes: readonly string[]): readonly string[] {
    const audiences = new Set<string>()
    for (const name of scopes) for (const audience of ofScopes.get(name) ?? []) audiences.add(audience)
    return audiences.size === 0 ? [fallback] : [...audiences]
  }

  return {
    of(scopes, limit) {
      const all = listOf(scopes)
      const limited = limit === undefined ? all : all.filter((audience) => limit.includes(audience))
      // Identity scopes remain beside any limit.
      const [first = fallback, ...others] = limited.length === 0 ? all : limited
      return others.length > 0 ? [first, ...others] : first
    },
    areShared: (scopes) => shared.size > 0 && scopes.some((name) => shared.has(name)),
    reachOf: (scopes, limit) =>
      scopes
        .filter((name) => shared.has(name))
        .flatMap((name) =>
          (ofScopes.get(name) ?? [])
            .filter((audience) => limit === undefined || limit.includes(audience))
            .map((audience) => `${name} ${audience}`),
        ),
    resourcesOf: (scopes, limit) =>
      [...new Set(scopes.flatMap((name) => ofScopes.get(name) ?? []))]
        .filter((audience) => limit === undefined || limit.includes(audience))
        .map((audience) => ({
          audience,
          scopes: Object.freeze(scopes.filter((name) => ofScopes.get(name)?.includes(audience))),
        })),
    listOf,
    within: (scopes, audiences) =>
      scopes.filter((name) => {
        const apis = ofScopes.get(name)
        const isOfNoApi = apis === undefined && (name === 'offline_access' || directory.find(name)?.identity === true)
        return isOfNoApi || (apis ?? [fallback]).some((audience) => audiences.includes(audience))
      }),
    registered: (audience) => (known.has(audience) ? audience : (equivalent.get(normalizedUri(audience)) ?? audience)),
    fits(aud, scopes) {
      const isNamed = (audience: string): boolean => (Array.isArray(aud) ? aud.includes(audience) : aud === audience)
      return listOf(scopes).some(isNamed)
    },
  }
}
