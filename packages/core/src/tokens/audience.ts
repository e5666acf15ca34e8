import type { ScopeDirectory } from '../directory/scopes.ts'
import type { Json } from '../types.ts'

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
  /** Whether `aud` contains an audience of the token's scopes, according to the current configuration. */
  fits(aud: Json | undefined, scopes: readonly string[]): boolean
}

export function createAudiences(issuer: string, directory: ScopeDirectory): Audiences {
  const fallback = `${issuer}/resources`
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
