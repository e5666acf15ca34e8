import type { ScopeDirectory } from '../directory/scopes.ts'
import type { Json } from '../json.ts'

/** Which APIs an access token is for, by its scopes. */
export interface Audiences {
  of(scopes: readonly string[]): string | readonly string[]
  /** Whether `aud` of a token names one of the APIs that its scopes are for today. */
  fits(aud: Json | undefined, scopes: readonly string[]): boolean
}

export function createAudiences(issuer: string, directory: ScopeDirectory): Audiences {
  const fallback = `${issuer}/resources`
  return {
    of(scopes) {
      const audiences = new Set<string>()
      for (const name of scopes) {
        const audience = directory.find(name)?.audience
        if (audience !== undefined) audiences.add(audience)
      }
      const [first = fallback] = audiences
      return audiences.size > 1 ? [...audiences] : first
    },
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
