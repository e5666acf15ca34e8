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
  /** Returns the claim `aud`: an array only for several audiences. */
  of(scopes: readonly string[]): string | readonly string[]
  /** Returns the same as an array, which is never empty. */
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
  const known = new Set([fallback, ...directory.all.flatMap(({ audience }) => audience ?? [])])
  // The first one, if two are equivalent.
  const equivalent = new Map([...known].reverse().map((audience) => [normalizedUri(audience), audience]))
  function listOf(scopes: readonly string[]): readonly string[] {
    const audiences = new Set<string>()
    for (const name of scopes) {
      const audience = directory.find(name)?.audience
      if (audience !== undefined) audiences.add(audience)
    }
    return audiences.size === 0 ? [fallback] : [...audiences]
  }

  return {
    of(scopes) {
      const audiences = listOf(scopes)
      const [first = fallback] = audiences
      return audiences.length > 1 ? audiences : first
    },
    listOf,
    within: (scopes, audiences) =>
      scopes.filter((name) => {
        const { audience, identity = false } = directory.find(name) ?? {}
        const isOfNoApi = audience === undefined && (identity || name === 'offline_access')
        return isOfNoApi || audiences.includes(audience ?? fallback)
      }),
    registered: (audience) => (known.has(audience) ? audience : (equivalent.get(normalizedUri(audience)) ?? audience)),
    fits(aud, scopes) {
      const isNamed = (audience: string): boolean => (Array.isArray(aud) ? aud.includes(audience) : aud === audience)
      let any = false
      for (const name of scopes) {
        const audience = directory.find(name)?.audience
        if (audience === undefined) continue
        if (isNamed(audience)) return true
        any = true
      }
      return !any && isNamed(fallback)
    },
  }
}
