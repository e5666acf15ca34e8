import { createCached } from './cached.ts'
import type { JsonFetch } from './json-fetch.ts'
import { safeUrl } from './option-checks.ts'

/** Returns the URL in a member of the issuer's metadata. Rejects if it is not available. */
export type FindInMetadata = (member: string) => Promise<string>

/** The documents of OpenID Connect Discovery section 4 and RFC 8414 section 3.1. */
function documentsOf(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/u, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

interface Times {
  /** Seconds for which a request waits for an attempt of another one. */
  readonly maxWait: number
  /** Epoch seconds. */
  readonly now: () => number
}

/** Finds the endpoints of an issuer by discovery, when they are first needed. */
export function createMetadata(issuer: string, fetchJson: JsonFetch, times: Times): FindInMetadata {
  async function load(): Promise<Readonly<Record<string, unknown>>> {
    const [first = '', second = ''] = documentsOf(issuer)
    const document = await fetchJson(first).catch((error: unknown) =>
      fetchJson(second).catch(() => {
        throw error
      }),
    )
    // RFC 8414 section 3.3: the document of another issuer would replace the keys.
    if (document.issuer === issuer) return document
    throw new Error(`The metadata of ${issuer} has another issuer`)
  }
  const metadata = createCached(load, { maxAge: 3600, maxStale: 86_400, cooldown: 30, ...times })
  return async (member) => safeUrl((await metadata())[member], `${member} of ${issuer}`)
}
